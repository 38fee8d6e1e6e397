import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { AppError } from '../core/errors.ts';
import { parseIp } from '../core/ip/address.ts';
import { bestEncoding } from '../http/encoding.ts';
import type { Endpoint, Exchange, Parameter, Route } from '../http/endpoint.ts';
import { Type } from '../http/schema.ts';

// The pages for people: one HTML document for all of them, and its script, style and icon. They are small and stay in
// memory, compressed when first asked for. In a clone they are built first if a source is newer.

/** The same relative paths from src/app and from dist/app. */
const BUILD = new URL('../../portal/build.ts', import.meta.url);
const FILES = new URL('../../dist/pages/', import.meta.url);
const INDEX = 'index.html';

const ADMIN_PAGES = ['accounts', 'tiers', 'feeds', 'imports', 'lists', 'keys', 'audit', 'health'];

/** Every path that returns HTML. `network` and `lists` have only texts that can be one: any other is a JSON 404. */
const PAGES: { path: string; isValid?: Record<string, Parameter['isValid']> }[] = [
  { path: '/' },
  { path: '/url' },
  { path: '/address/:ip' },
  {
    path: '/network/:ip/:mask',
    isValid: { ip: (text) => parseIp(text) !== null, mask: (text) => /^\d{1,3}$/.test(text) },
  },
  { path: '/domain/:name' },
  { path: '/search' },
  { path: '/bulk' },
  { path: '/lists' },
  { path: '/lists/:name', isValid: { name: (text) => /^[a-z0-9-]{1,63}$/.test(text) } },
  { path: '/account' },
  { path: '/api' },
  { path: '/admin' },
  { path: '/admin/:page', isValid: { page: (text) => ADMIN_PAGES.includes(text) } },
];

const CONTENT_TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Our data is hostile text: no inline script or style, nothing from elsewhere, and no text that becomes HTML. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "font-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const SECURITY_HEADERS = {
  'content-security-policy': POLICY,
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
};

/** The names of assets contain a hash of their content. */
const FOREVER = 'public, max-age=31536000, immutable';

type PageFile = { type: string; plain: Buffer; gzipped(): Promise<Buffer> };

/** The routes of all pages and their assets. Builds the pages first if this is a clone and a source is newer. */
export async function openPortalFiles(): Promise<Route[]> {
  if (existsSync(BUILD)) {
    const { isStale, buildPortal } = await import(BUILD.href);
    if (isStale()) await buildPortal();
  }
  const files = readFiles();
  const index = files.get(INDEX);
  if (index === undefined)
    throw new AppError('unavailable', 'The pages are not built: run npm run build, or start with --no-portal');
  const sendIndex = (exchange: Exchange) => send(exchange, index, 'no-cache');
  const pages = PAGES.map(({ path, isValid = {} }) => page(path, isValid, sendIndex));
  return [...pages, assets(files)];
}

function readFiles(): Map<string, PageFile> {
  if (!existsSync(FILES)) return new Map();
  return new Map(readdirSync(FILES).map((name) => [name, readFile(name)]));
}

function readFile(name: string): PageFile {
  const plain = readFileSync(new URL(name, FILES));
  const type = CONTENT_TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
  let compressed: Promise<Buffer> | undefined;
  return { type, plain, gzipped: () => (compressed ??= promisify(gzip)(plain, { level: 9 })) };
}

function page(path: string, isValid: Record<string, Parameter['isValid']>, respond: HiddenRoute['respond']): Route {
  const names = [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const parameters = names.map(
    (name): Parameter => ({
      in: 'path',
      name,
      schema: Type.String(),
      description: '',
      ...(isValid[name] && { isValid: isValid[name] }),
    }),
  );
  return hidden({ path, parameters, contentType: CONTENT_TYPES.html ?? '', respond });
}

function assets(files: ReadonlyMap<string, PageFile>): Route {
  const file: Parameter = {
    in: 'path',
    name: 'file',
    schema: Type.String(),
    description: '',
    isValid: (name) => name !== INDEX && files.has(name),
  };
  return hidden({
    path: '/assets/:file',
    parameters: [file],
    contentType: CONTENT_TYPES.js ?? '',
    async respond(exchange) {
      const found = files.get((exchange.request.params as { file: string }).file);
      if (found === undefined) throw new Error('unreachable: other names get 404');
      return send(exchange, found, FOREVER);
    },
  });
}

type HiddenRoute = {
  path: string;
  parameters: Parameter[];
  contentType: string;
  respond(exchange: Exchange): Promise<Buffer>;
};

/** Not part of the API, so not in its description. */
function hidden({ path, parameters, contentType, respond }: HiddenRoute): Route {
  const endpoint: Endpoint = {
    method: 'GET',
    path,
    operationId: path,
    summary: '',
    parameters,
    response: { contentType },
    read: () => undefined,
    respond: (_, exchange) => respond(exchange),
  };
  return { endpoint, access: 'open', charge: 'none', isHidden: true };
}

async function send(
  { request, reply }: Exchange,
  { type, plain, gzipped }: PageFile,
  cacheControl: string,
): Promise<Buffer> {
  reply.headers({ ...SECURITY_HEADERS, 'content-type': type, 'cache-control': cacheControl, vary: 'accept-encoding' });
  if (bestEncoding(request.headers['accept-encoding'], ['identity', 'gzip']) === 'identity') return plain;
  reply.header('content-encoding', 'gzip');
  return gzipped();
}
