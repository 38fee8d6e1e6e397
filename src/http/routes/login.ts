import type { LoginRequest as Credentials } from '../../accounts/login.ts';
import { LoginRequest, LoginResponse } from '../../contract/login.ts';
import { paths } from '../../contract/paths.ts';
import type { Endpoint } from '../endpoint.ts';

export const login: Endpoint<Credentials> = {
  method: 'POST',
  path: paths.login,
  operationId: 'login',
  summary: 'A token for an account; valid for a day, so log in once and not for every request',
  body: LoginRequest,
  response: { contentType: 'application/json', schema: LoginResponse },
  refusals: ['unauthorized', 'limit_reached'],
  read(request) {
    const { username, password, realm } = request.body as LoginRequest;
    return { username, password, realm, address: request.ip };
  },
  async answer(credentials, { services }): Promise<LoginResponse> {
    const { token, expires } = await services.login(credentials);
    return { code: 200, token, expires };
  },
};
