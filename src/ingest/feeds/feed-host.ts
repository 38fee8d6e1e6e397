import { badRequest } from '../../core/errors.ts';
import { createGuard, findBlocked, subjectOf } from '../sources/fetch-guard.ts';
import type { Feed } from '../store.ts';

/** Networks of feeds-allow-private, and whose settings these are: those of a command may differ from the server's. */
type PrivateNetworks = { allowed: readonly string[]; of: 'command' | 'server' };

/**
 * Refuses a feed that no server would fetch, because it is in a private network and was added without --private. Returns
 * what is still missing, or could not be checked, as a sentence; null if nothing is. An invalid URL is not reported here.
 */
export async function checkFeedHost(
  url: string,
  isPrivate: boolean,
  { allowed, of }: PrivateNetworks,
): Promise<string | null> {
  const host = hostOf(url);
  if (!host) return null;
  const blocked = await findBlocked(host, createGuard(isPrivate ? allowed : []));
  if (blocked === null) return null;
  if (blocked === 'unknown')
    return `${host} cannot be resolved from here: check the spelling of the host name, and the network and DNS of this machine.`;
  const { address, kind } = blocked;
  const which = subjectOf(host, address);
  if (of === 'server' || !isPrivate) {
    const mark = of === 'server' ? 'as a private feed' : 'with --private';
    const how = isPrivate ? '' : `add it ${mark}, and `;
    throw badRequest(
      `${which} a blocked address (${kind}). To fetch a feed from your own network, ${how}let the server allow it: ${exampleOf(address)} in its settings file, or --feeds-allow-private`,
    );
  }
  return `${which} not in feeds-allow-private in the settings of this command. If the server has the same settings, it will not fetch the feed: put ${exampleOf(address)} into its settings file, or start it with --feeds-allow-private ${address}.`;
}

/**
 * Refuses a run by a command whose settings do not allow the network of a private feed. A server may have other settings
 * and fetch it, so this must not be recorded as a failure of the feed.
 */
export async function requireAllowedHost(
  { url, allowsPrivate }: Pick<Feed, 'url' | 'allowsPrivate'>,
  allowed: readonly string[],
): Promise<void> {
  if (!allowsPrivate) return;
  const host = hostOf(url);
  const blocked = host ? await findBlocked(host, createGuard(allowed)) : null;
  if (blocked === null || blocked === 'unknown') return;
  throw badRequest(
    `${subjectOf(host, blocked.address)} not in feeds-allow-private in the settings of this command. Nothing was fetched, and the state of the feed stays. Add --feeds-allow-private ${blocked.address}, or put ${exampleOf(blocked.address)} into the settings file`,
  );
}

const hostOf = (url: string): string => URL.parse(url)?.hostname.replace(/^\[|\]$/g, '') ?? '';

const exampleOf = (address: string): string => `feeds-allow-private = ["${address}"]`;
