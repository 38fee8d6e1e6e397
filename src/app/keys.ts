import { ensureKey, readKeyFile } from '../accounts/signing-keys.ts';
import type { SigningKey } from '../accounts/store.ts';
import type { Settings } from '../config/settings.ts';
import type { Control } from './stores.ts';

/** `newKid`: the id of the key that was created because there was none; otherwise null. */
type WithKeys = { control: Control; fileKeys: SigningKey[] | null; newKid: string | null };

/** Keys from a file of the operator, or those in the store, of which there is at least one. */
export async function withKeys(control: Control, { signingKeyFile }: Settings, nowTs: number): Promise<WithKeys> {
  if (signingKeyFile !== null) {
    const fileKeys = readKeyFile(signingKeyFile);
    return { control: withKeyFile(control, fileKeys), fileKeys, newKid: null };
  }
  let newKid: string | null = null;
  await ensureKey(control, nowTs, (kid) => {
    newKid = kid;
  });
  return { control, fileKeys: null, newKid };
}

/** With the keys of the file, if there is one, instead of those in the store. */
export function withKeyFile(control: Control, fileKeys: SigningKey[] | null): Control {
  return fileKeys === null ? control : { ...control, keys: async () => fileKeys };
}
