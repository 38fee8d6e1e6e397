import { paths } from '../core/paths.ts';
import { type Endpoint, json, type Route } from '../http/endpoint.ts';
import type { Credentials, Login } from './login.ts';
import { LoginRequest, LoginResponse } from './wire.ts';

export function accountRoutes(login: Login): Route[] {
  return [{ endpoint: loginEndpoint(login), access: 'open', charge: 'none' }];
}

const loginEndpoint = (login: Login): Endpoint<Required<Credentials>> => ({
  method: 'POST',
  path: paths.login,
  operationId: 'login',
  summary: 'Get a token for an account; it is valid for a day, so log in once, not for every request',
  body: LoginRequest,
  response: json(LoginResponse),
  refusals: ['unauthorized', 'limit_reached'],
  read(request) {
    const { username, password, realm } = request.body as LoginRequest;
    return { username, password, realm, address: request.ip };
  },
  async respond(credentials): Promise<LoginResponse> {
    const { token, expires } = await login(credentials);
    return { code: 200, token, expires };
  },
});
