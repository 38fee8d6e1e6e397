import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Change } from '../audit/store.ts';
import { AppError } from '../core/errors.ts';
import { paths } from '../core/paths.ts';
import { callerOf } from '../http/authenticate.ts';
import { type Caller, type CallerSession, type Endpoint, json, type Route } from '../http/endpoint.ts';
import { clearSessionCookie, keepsSecureCookies, refuseOtherOrigin, setSessionCookie } from '../http/session-cookie.ts';
import type { CheckPassword } from './login.ts';
import { changePassword } from './manage.ts';
import { MAX_SESSION_SECONDS, type Sessions, type StartedSession } from './sessions.ts';
import type { AccountStore } from './store.ts';
import {
  Empty,
  EndSessionsRequest,
  EndSessionsResponse,
  PasswordRequest,
  SessionLoginRequest,
  SessionResponse,
  SessionsResponse,
} from './wire.ts';

export type SessionServices = {
  checkPassword: CheckPassword;
  sessions: Sessions;
  store: AccountStore;
  /** Writes a change that the caller has made to the audit log. */
  recordChange(request: FastifyRequest, change: Change): Promise<void>;
  /** Of the program. */
  version: string;
};

/** Login by page, and what people can do with their own sessions and password. */
export function sessionRoutes(services: SessionServices): Route[] {
  return [
    { endpoint: login(services), access: 'open', charge: 'none' },
    { endpoint: logout(services), access: 'account', charge: 'none' },
    { endpoint: session(services), access: 'account', charge: 'call' },
    { endpoint: listSessions(services), access: 'account', charge: 'call' },
    { endpoint: endSessions(services), access: 'account', charge: 'call' },
    { endpoint: password(services), access: 'account', charge: 'call' },
  ];
}

const login = ({ checkPassword, sessions, version }: SessionServices): Endpoint<SessionLoginRequest> => ({
  method: 'POST',
  path: paths.portalLogin,
  operationId: 'portalLogin',
  summary: 'Start a session of the pages; the response sets its cookie',
  body: SessionLoginRequest,
  response: json(SessionResponse),
  refusals: ['unauthorized', 'forbidden', 'limit_reached'],
  read(request) {
    refuseOtherOrigin(request); // another site must not log a browser in to an account of its own
    return request.body as SessionLoginRequest;
  },
  async respond({ username, password }, { request, reply }): Promise<SessionResponse> {
    const account = await checkPassword({ username, password, address: request.ip });
    const started = await sessions.start(account, browserOf(request));
    sendCookie(reply, started);
    return toResponse(account, started.session, request, version);
  },
});

const logout = ({ sessions }: SessionServices): Endpoint<Caller> => ({
  method: 'POST',
  path: paths.portalLogout,
  operationId: 'portalLogout',
  summary: 'End this session and delete its cookie; a token stays valid',
  body: Empty,
  response: json(Empty),
  read: callerOf,
  async respond({ account, session }, { reply }) {
    if (session !== undefined) await sessions.end(account.sub, session.id, 'this');
    clearSessionCookie(reply);
    return {};
  },
});

const session = ({ version }: SessionServices): Endpoint<Caller> => ({
  method: 'GET',
  path: paths.portalSession,
  operationId: 'portalSession',
  summary: 'Who is logged in; the times are null for a token',
  response: json(SessionResponse),
  read: callerOf,
  async respond(caller, { request }): Promise<SessionResponse> {
    return toResponse(caller.account, caller.session, request, version);
  },
});

const listSessions = ({ sessions }: SessionServices): Endpoint<Caller> => ({
  method: 'GET',
  path: paths.portalSessions,
  operationId: 'portalSessions',
  summary: 'The sessions of the account, the last used first',
  response: json(SessionsResponse),
  read: callerOf,
  async respond({ account, session: current }): Promise<SessionsResponse> {
    const items = (await sessions.list(account.sub)).map(({ id, createdTs, usedTs, address, agent }) => {
      return { id, created_ts: createdTs, used_ts: usedTs, address, agent, current: id === current?.id };
    });
    return { items };
  },
});

/** All sessions are others for a caller who sent a token. */
const NO_SESSION = '';

const endSessions = ({ sessions, recordChange }: SessionServices): Endpoint<EndSessionsRequest> => ({
  method: 'POST',
  path: paths.portalSessionsEnd,
  operationId: 'portalSessionsEnd',
  summary: 'End one session of the account, or all others',
  body: EndSessionsRequest,
  response: json(EndSessionsResponse),
  read: (request) => request.body as EndSessionsRequest,
  async respond({ id }, { request }): Promise<EndSessionsResponse> {
    const { account, session: current } = callerOf(request);
    const ended =
      id === undefined
        ? await sessions.end(account.sub, current?.id ?? NO_SESSION, 'others')
        : await sessions.end(account.sub, id, 'this');
    if (ended > 0) {
      const after = { sessions_ended: ended };
      await recordChange(request, { action: 'account.sign-out', subject: account.username, after });
    }
    return { ended };
  },
});

const password = ({
  checkPassword,
  sessions,
  store,
  recordChange,
  version,
}: SessionServices): Endpoint<PasswordRequest> => ({
  method: 'POST',
  path: paths.portalPassword,
  operationId: 'portalPassword',
  summary: 'Change your own password; ends all other sessions and all tokens',
  body: PasswordRequest,
  response: json(SessionResponse),
  read: (request) => request.body as PasswordRequest,
  async respond({ current, new: next }, { request, reply }): Promise<SessionResponse> {
    const { account: asking, session: old } = callerOf(request);
    const account = await checkPassword({ username: asking.username, password: current, address: request.ip }).catch(
      (error) => {
        throw isUnauthorized(error) ? new AppError('forbidden', 'The current password is wrong') : error;
      },
    );
    await changePassword(store, account.username, next);
    // Not read from the store: a revocation in the meantime must end the new session too.
    const generation = account.generation + 1;
    const started = old && (await sessions.start({ sub: account.sub, generation }, browserOf(request)));
    if (started !== undefined) sendCookie(reply, started);
    await recordChange(request, {
      action: 'account.passwd',
      subject: account.username,
      before: { generation: account.generation },
      after: { generation },
    });
    return toResponse(account, started?.session, request, version);
  },
});

function toResponse(
  { username, sub, tier, isAdmin }: Caller['account'],
  session: CallerSession | undefined,
  request: FastifyRequest,
  version: string,
): SessionResponse {
  const times = { created_ts: session?.createdTs ?? null, expires_ts: session?.expiresTs ?? null };
  return { username, sub, tier, admin: isAdmin, version, secure: keepsSecureCookies(request), ...times };
}

function sendCookie(reply: FastifyReply, { cookie }: StartedSession): void {
  setSessionCookie(reply, cookie, MAX_SESSION_SECONDS);
}

function browserOf(request: FastifyRequest) {
  return { address: request.ip, agent: request.headers['user-agent'] ?? '' };
}

function isUnauthorized(error: unknown): boolean {
  return error instanceof AppError && error.code === 'unauthorized';
}
