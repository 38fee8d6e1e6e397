import { ApiError, get, post, setOnSessionOver, tightestLimit, UNAUTHORIZED } from './api.ts';
import { forgetRecent } from './recent.ts';
import { signal } from './signal.ts';

/** Who is logged in. */
export type Session = {
  username: string;
  sub: string;
  tier: string;
  admin: boolean;
  version: string;
  secure: boolean;
  created_ts: number | null;
  expires_ts: number | null;
};

/** Undefined until the server has answered; null: nobody is logged in. */
export const session = signal<Session | null | undefined>(undefined);
/** A session that ended while the page was open: the page says so and keeps the question. */
export const wasLoggedIn = signal(false);
/** The server could not be asked who is logged in. */
export const sessionProblem = signal<ApiError | null>(null);

setOnSessionOver(() => {
  wasLoggedIn.value ||= Boolean(session.value); // several requests may find it out
  session.value = null;
  tightestLimit.value = null;
});

/** The account whose data this tab has, also after its session. */
let owner: string | null = null;

/** The tabs of a browser share the cookie. Each login (`sub`) and logout (null) in one is known to the others. */
const otherTabs = new BroadcastChannel('urlwarden-session');
otherTabs.onmessage = ({ data: sub }: MessageEvent<string | null>) => {
  if (owner === null || owner === sub) void readSession();
  else location.reload(); // nothing of the other account stays
};

async function getSession(): Promise<Session> {
  const found = await get<Session>('/api/portal/v1/session');
  owner = found.sub;
  session.value = found;
  wasLoggedIn.value = false;
  return found;
}

export async function readSession(): Promise<void> {
  sessionProblem.value = null;
  try {
    await getSession();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.status !== UNAUTHORIZED) sessionProblem.value = error;
  }
}

/** Throws an ApiError. A browser that dropped the cookie is noticed at once: the next request has no session. */
export async function logIn(username: string, password: string): Promise<void> {
  await post<Session>('/api/portal/v1/login', { username, password });
  try {
    otherTabs.postMessage((await getSession()).sub);
  } catch (error) {
    if (error instanceof ApiError && error.status === UNAUTHORIZED) throw new ApiError(UNAUTHORIZED, COOKIE_DROPPED);
    throw error;
  }
}

const COOKIE_DROPPED =
  'The password was right, but the browser did not keep the session: it accepts the cookie only over HTTPS or on this ' +
  'machine. Start the server with --tls-cert-file and --tls-key-file, or put a proxy with TLS in front of it.';

export async function logOut(): Promise<void> {
  await post('/api/portal/v1/logout', {}).catch(() => {});
  session.value = null;
  wasLoggedIn.value = false;
  tightestLimit.value = null;
  forgetRecent(); // others may use this browser
  otherTabs.postMessage(null);
}
