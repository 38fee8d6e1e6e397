import type { SessionResponse as Session } from '../src/accounts/wire.ts';
import {
  ApiError,
  BAD_REQUEST,
  get,
  isSessionOver,
  post,
  setOnSessionOver,
  tightestLimit,
  UNAUTHORIZED,
} from './api.ts';
import { forgetRecent } from './recent.ts';
import { signal } from './signal.ts';

/** Who is logged in. */
export type { Session };

/** Undefined until the server has answered; null: nobody is logged in. */
export const session = signal<Session | null | undefined>(undefined);
/** The server could not be asked who is logged in. */
export const sessionProblem = signal<ApiError | null>(null);

/** When the server last said who is logged in. A 401 to a request that was sent earlier is of the session before. */
let knownMs = 0;

setOnSessionOver((sentMs) => {
  if (sentMs < knownMs) return;
  if (session.value) isSessionOver.value = true;
  else session.value = null;
});

/** The account whose data this tab has, also after its session. */
let owner: string | null = null;

/** The tabs of a browser share the cookie. Each login (`sub`) and logout (null) in one is known to the others. */
const otherTabs = new BroadcastChannel('urlwarden-session');
otherTabs.onmessage = ({ data: sub }: MessageEvent<string | null>) => {
  if (owner === null || owner === sub) void readSession();
  else startAnew();
};

let isOther = false;
/** The first listener of the page, so that no other one asks whether unsaved results may be lost. */
addEventListener('beforeunload', (event) => {
  if (isOther) event.stopImmediatePropagation();
});

/** Nothing of the other account stays. */
function startAnew(): void {
  isOther = true;
  location.reload();
}

async function getSession(): Promise<Session> {
  const found = await get<Session>('/api/portal/v1/session');
  if (owner !== null && owner !== found.sub) {
    startAnew();
    return found;
  }
  owner = found.sub;
  knownMs = performance.now();
  session.value = found;
  isSessionOver.value = false;
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
  await post<Session>('/api/portal/v1/login', { username, password }).catch(refused('Username or password is wrong.'));
  otherTabs.postMessage((await getSession().catch(refused(COOKIE_DROPPED))).sub);
}

/** 401 would mean that a session is over. */
const refused =
  (words: string) =>
  (error: unknown): never => {
    if (!(error instanceof ApiError) || error.status !== UNAUTHORIZED) throw error;
    throw new ApiError(BAD_REQUEST, words);
  };

const COOKIE_DROPPED =
  'The password was right, but the browser did not keep the session: it accepts the cookie only over HTTPS or on this ' +
  'machine. Start the server with --tls-cert and --tls-key, or put a proxy with TLS in front of it.';

/** Throws an ApiError if the session may live on: a page that says otherwise would leave it to the next person here. */
export async function logOut(): Promise<void> {
  await post('/api/portal/v1/logout', {}).catch((error: ApiError) => {
    if (error.status !== UNAUTHORIZED) throw new ApiError(error.status, `You are still logged in. ${error.message}`);
  });
  endSession();
  forgetRecent(); // others may use this browser
  otherTabs.postMessage(null);
}

/** The page is replaced by the login. */
export function endSession(): void {
  session.value = null;
  isSessionOver.value = false;
  tightestLimit.value = null;
}
