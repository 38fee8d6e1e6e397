import type { Settings } from '../config/settings.ts';
import type { InputLimits } from './format.ts';

/** The bounds that an operator has set. */
export function inputLimits(
  settings: Pick<Settings, 'maxUnpackedBytes' | 'maxUnpackRatio' | 'maxLineBytes'>,
): InputLimits {
  const { maxUnpackedBytes, maxUnpackRatio: maxRatio, maxLineBytes } = settings;
  return { maxUnpackedBytes, maxRatio, maxLineBytes };
}
