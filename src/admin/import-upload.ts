import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { AppError, badRequest } from '../core/errors.ts';
import { ADDRESS_DATASETS, DOMAIN_KINDS } from '../core/evidence.ts';
import { paths } from '../core/paths.ts';
import { textFault } from '../core/text.ts';
import { discardRest, sendContinue } from '../http/body.ts';
import { type Exchange, json, type Parameter } from '../http/endpoint.ts';
import { queryString, readSwitch } from '../http/query.ts';
import { Type } from '../http/schema.ts';
import { createStallTimer } from '../http/stall-timer.ts';
import { IMPORTED_LIST_KINDS } from '../ingest/evidence.ts';
import { FORMATS } from '../ingest/formats/formats.ts';
import type { UploadChoices, Uploads } from '../ingest/uploads.ts';
import { adminRoute, queryText, textParameter } from './route.ts';

export type UploadServices = { uploads: Pick<Uploads, 'receive'> };

/** The largest public dump is half of it, packed. Larger files are imported by the command. */
const MAX_UPLOAD_BYTES = 2 * 2 ** 30;

export const importUpload = ({ uploads }: UploadServices) =>
  adminRoute({
    method: 'POST',
    path: paths.adminImports,
    operationId: 'adminImportUpload',
    summary: 'Import the file that is the body, plain or packed as gzip or zip, while it arrives',
    parameters: [
      textParameter('format', `One of ${FORMATS.map(({ name }) => name).join(', ')}.`),
      textParameter('source', 'The name of the file. Default: upload.'),
      textParameter('feed', 'The feed that the data belongs to. Default: the name of the format, or of the list.'),
      switchParameter('complete', 'The file lists everything that is online.'),
      switchParameter('force', 'Apply a complete listing or a list even if it looks cut off.'),
      wordParameter('dataset', ADDRESS_DATASETS),
      wordParameter('kind', DOMAIN_KINDS),
      wordParameter('as', IMPORTED_LIST_KINDS),
    ],
    body: 'stream',
    response: json(Type.Object({ id: Type.Integer() })),
    read: readChoices,
    async respond(choices, exchange, { stallMs }) {
      const id = await uploads.receive(bodyOf(exchange, stallMs), choices);
      await readRest(exchange.request.raw, stallMs);
      return { id };
    },
  });

function readChoices(request: FastifyRequest): UploadChoices {
  if (Number(request.headers['content-length']) > MAX_UPLOAD_BYTES) throw tooLarge();
  const query = queryString(request);
  const source = queryText(request, 'source') ?? 'upload';
  const fault = textFault(source);
  if (fault !== null) throw badRequest(`"source": ${fault}`);
  return {
    format: queryText(request, 'format') ?? '',
    source,
    feed: queryText(request, 'feed'),
    isComplete: readSwitch(query, 'complete'),
    isForced: readSwitch(query, 'force'),
    dataset: readWord(request, 'dataset', ADDRESS_DATASETS),
    evidenceKind: readWord(request, 'kind', DOMAIN_KINDS),
    listKind: readWord(request, 'as', IMPORTED_LIST_KINDS),
  };
}

/** The bytes of a body. Does not destroy the request at an early end: the client would lose the response. */
async function* bodyOf(exchange: Exchange, stallMs: number): AsyncGenerator<Buffer> {
  const { raw } = exchange.request;
  sendContinue(exchange);
  const chunks = raw.iterator({ destroyOnReturn: false })[Symbol.asyncIterator]();
  let bytes = 0;
  for (;;) {
    const { done, value: chunk } = await inTime(chunks.next(), raw, stallMs);
    if (done) return;
    bytes += chunk.length;
    if (bytes > MAX_UPLOAD_BYTES) throw tooLarge();
    yield chunk;
  }
}

async function inTime<T>(next: Promise<T>, raw: IncomingMessage, stallMs: number): Promise<T> {
  const stalled = createStallTimer(stallMs, () => {
    if (raw.listenerCount('data') === 0) raw.destroy(); // otherwise `readRest` has its own timer
  });
  try {
    return await next;
  } catch (cause) {
    const message =
      'The upload ended early: the connection was closed, or no bytes arrived for too long. Send it again.';
    throw new AppError('bad_request', message, { cause });
  } finally {
    stalled.stop();
  }
}

/**
 * Of an import that ended early. Some clients give up when a response arrives before they have sent everything. One that
 * sends nothing for too long gets its response.
 */
async function readRest(raw: IncomingMessage, stallMs: number): Promise<void> {
  if (raw.readableEnded || raw.destroyed) return;
  raw.removeAllListeners('readable'); // of the iterator, which would keep `data` from being emitted
  const end = Promise.withResolvers<void>();
  const stalled = createStallTimer(stallMs, end.resolve);
  raw.on('data', stalled.refresh).once('end', end.resolve).once('close', end.resolve);
  await end.promise;
  stalled.stop();
  raw.off('data', stalled.refresh);
  discardRest(raw);
}

const tooLarge = () =>
  new AppError('body_too_large', `The file is larger than ${MAX_UPLOAD_BYTES / 2 ** 30} GiB: use urlwarden import`);

function switchParameter(name: string, description: string): Parameter {
  return { in: 'query', name, schema: Type.Boolean(), description };
}

function wordParameter(name: string, words: readonly string[]): Parameter {
  return { in: 'query', name, schema: Type.Enum([...words]), description: 'For formats that do not say it.' };
}

function readWord<const Word extends string>(
  request: FastifyRequest,
  name: string,
  words: readonly Word[],
): Word | null {
  const sent = queryText(request, name);
  const word = words.find((candidate) => candidate === sent);
  if (sent === null || word !== undefined) return word ?? null;
  throw badRequest(`"${name}" must be one of ${words.join(', ')}`);
}
