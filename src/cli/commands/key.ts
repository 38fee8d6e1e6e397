import type { CommandGroup } from '../command.ts';
import { keyRotate } from './key/rotate.ts';

export const key: CommandGroup = {
  entries: [{ name: 'rotate', summary: 'Sign tokens with a new key from now on.', load: async () => keyRotate }],
};
