import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Owner } from '../../src/app/owner.ts';
import { createOwnerTasks, createReceivedUploads, createRemoteOwner } from '../../src/app/owner-calls.ts';
import { AppError } from '../../src/core/errors.ts';
import type { UploadChoices } from '../../src/ingest/uploads.ts';
import { callByMessage } from '../threads/two-threads.ts';

const CHOICES: UploadChoices = { format: 'url-list', source: 'a.txt', feed: null, isComplete: false, isForced: false };

/** The owner as another thread sees it, through a real channel. */
function remoteOf(t: TestContext, owner: Partial<Owner>): Owner {
  const uploads = createReceivedUploads();
  const all = { counts: {}, lists: {}, ...owner } as Owner;
  const tasks = createOwnerTasks(all, { writes: {}, nextUploadedBytes: uploads.next });
  return createRemoteOwner(callByMessage(t, tasks), uploads);
}

test('a file that another thread receives arrives whole, in order', async (t) => {
  const received: Buffer[] = [];
  const remote = remoteOf(t, {
    async receiveUpload(bytes, choices) {
      assert.deepEqual(choices, CHOICES);
      for await (const chunk of bytes) received.push(chunk);
      return 7;
    },
  });
  let isOver = false;
  async function* file() {
    try {
      for (const text of ['one\n', 'two\n', 'three\n']) yield Buffer.from(text);
    } finally {
      isOver = true;
    }
  }
  assert.equal(await remote.receiveUpload(file(), CHOICES), 7);
  assert.equal(Buffer.concat(received).toString(), 'one\ntwo\nthree\n');
  assert.ok(isOver);
});

test('a file that is not read to its end is closed', async (t) => {
  const remote = remoteOf(t, {
    async receiveUpload(bytes) {
      for await (const _chunk of bytes) return 1;
      return 0;
    },
  });
  let isClosed = false;
  async function* file() {
    try {
      for (;;) yield Buffer.from('line\n');
    } finally {
      isClosed = true;
    }
  }
  assert.equal(await remote.receiveUpload(file(), CHOICES), 1);
  assert.ok(isClosed);
});

test('a client that hangs up fails the import with its own error', async (t) => {
  let failure: unknown;
  const remote = remoteOf(t, {
    async receiveUpload(bytes) {
      try {
        for await (const _chunk of bytes);
      } catch (error) {
        failure = error;
      }
      return 3;
    },
  });
  async function* file() {
    yield Buffer.from('one\n');
    throw new AppError('bad_request', 'the client hung up');
  }
  assert.equal(await remote.receiveUpload(file(), CHOICES), 3);
  assert.ok(failure instanceof AppError && failure.code === 'bad_request');
});

test('a refusal keeps its class and its fields', async (t) => {
  const refusal = new AppError('limit_reached', 'Too many logins', { retryAfterSeconds: 9, limit: 'logins' });
  const remote = remoteOf(t, { checkPassword: () => Promise.reject(refusal) });
  await assert.rejects(remote.checkPassword({ username: 'a', password: 'b', address: '::1' }), (error) => {
    assert.ok(error instanceof AppError);
    const { code, message, retryAfterSeconds, limit, challenge } = error;
    assert.deepEqual(
      { code, message, retryAfterSeconds, limit, challenge },
      {
        code: 'limit_reached',
        message: 'Too many logins',
        retryAfterSeconds: 9,
        limit: 'logins',
        challenge: undefined,
      },
    );
    return true;
  });
});

test('an outage is reported to the owner, any other error is not', async (t) => {
  const reported = Promise.withResolvers<unknown>();
  const remote = remoteOf(t, {
    reportFailure(error) {
      reported.resolve(error);
      return true;
    },
  });
  assert.equal(remote.reportFailure(new Error('a defect')), false);
  assert.equal(remote.reportFailure(new AppError('not_found', 'unknown')), false);
  assert.equal(remote.reportFailure(new AppError('unavailable', 'no database')), true);
  const error = await reported.promise;
  assert.ok(error instanceof AppError && error.message === 'no database');
});

test('an account above its soft limit is reported once a month, not with each query', async (t) => {
  const states: number[] = [];
  const remote = remoteOf(t, {
    onAboveSoftLimit: ({ count }) => void states.push(count),
    ready: async () => {},
  });
  const ts = Date.parse('2026-11-30T23:59:59Z') / 1000;
  for (let count = 11; count < 20; count++) remote.onAboveSoftLimit({ sub: '1', limit: 10, count, ts });
  remote.onAboveSoftLimit({ sub: '1', limit: 10, count: 30, ts: ts + 1 });
  await remote.ready(); // a later message
  assert.deepEqual(states, [11, 30]);
});
