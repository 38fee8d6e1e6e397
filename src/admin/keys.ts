import { keyFields } from '../accounts/audit-fields.ts';
import { keysJson, refuseKeyFile, rotateKey } from '../accounts/signing-keys.ts';
import { recordChange } from '../audit/request-record.ts';
import { paths } from '../core/paths.ts';
import { type Endpoint, json, type Route } from '../http/endpoint.ts';
import { adminRoute } from './route.ts';
import type { AdminServices } from './services.ts';
import { KeysResponse, RotateKeyRequest } from './wire.ts';

export function keyAdminRoutes(services: AdminServices): Route[] {
  return [adminRoute(listKeys(services)), adminRoute(rotate(services))];
}

async function keysOf({ control, hasKeyFile }: AdminServices): Promise<KeysResponse> {
  return { from_file: hasKeyFile, items: keysJson(await control.keys(), hasKeyFile) };
}

const listKeys = (services: AdminServices): Endpoint => ({
  method: 'GET',
  path: paths.adminKeys,
  operationId: 'adminKeys',
  summary: 'The ids of the signing keys, the newest first',
  response: json(KeysResponse),
  read: () => undefined,
  respond: () => keysOf(services),
});

const rotate = (services: AdminServices): Endpoint<RotateKeyRequest> => ({
  method: 'POST',
  path: paths.adminKeyRotate,
  operationId: 'adminRotateKey',
  summary: 'Sign new tokens with a new key; the response is the list of keys',
  body: RotateKeyRequest,
  response: json(KeysResponse),
  read: (request) => request.body as RotateKeyRequest,
  async respond({ now: isImmediate = false }, { request }) {
    const { control, now, hasKeyFile } = services;
    refuseKeyFile(hasKeyFile);
    const before = await keyFields(control);
    const { kid } = await rotateKey(control, now(), isImmediate);
    await recordChange(control, request, {
      action: 'key.rotate',
      subject: kid,
      before,
      after: await keyFields(control),
    });
    return keysOf(services);
  },
});
