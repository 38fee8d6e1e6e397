import type { ListKind } from '../content.ts';

/** What a device can load. A list with more entries is cut: the newest are kept. */
export type Profile = {
  name: string;
  title: string;
  maxEntries: Readonly<Record<ListKind, number>>;
  /** Of the whole file; null: no limit is known. */
  maxBytes: number | null;
  urls: {
    hasScheme: boolean;
    /** Null: no limit is known. */
    maxLength: number | null;
    /** Characters that are wildcards there: a URL with one of them would block others too. */
    wildcards: RegExp;
  };
};

export const PROFILES: readonly Profile[] = [
  {
    name: 'pan-os',
    title: 'Palo Alto Networks PAN-OS, external dynamic list',
    // "PAN-OS Web Interface Help", Objects > External Dynamic Lists: 50,000 addresses, 50,000 URLs and 50,000 domains on
    // every model, over all its lists. Larger models take more: `max` instead of the profile, or several lists.
    maxEntries: { urls: 50_000, hosts: 50_000, addresses: 50_000 },
    maxBytes: null,
    // "Formatting Guidelines for an External Dynamic List": no http:// and https://, 255 characters, `*` and `^` are wildcards.
    urls: { hasScheme: false, maxLength: 255, wildcards: /[*^]/ },
  },
  {
    name: 'fortigate',
    title: 'Fortinet FortiGate, external threat feed',
    // "FortiOS Administration Guide", Threat feeds: 10 MB or 131,072 entries, whichever is reached first. `*` is a wildcard.
    maxEntries: { urls: 131_072, hosts: 131_072, addresses: 131_072 },
    maxBytes: 10_000_000,
    urls: { hasScheme: true, maxLength: null, wildcards: /[*]/ },
  },
];

export const PROFILE_NAMES: readonly string[] = PROFILES.map(({ name }) => name);

export const findProfile = (name: string): Profile | null => PROFILES.find((profile) => profile.name === name) ?? null;
