import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { AppError } from '../../../src/core/errors.ts';
import { INPUT_LIMITS, type InputLimits, type Source } from '../../../src/ingest/sources/format.ts';
import { openFile, sourceOf } from '../../../src/ingest/sources/source.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { inChunks } from '../formats/read-items.ts';
import { type ZipEntry, zipOf } from './zip-of.ts';

const TEXT = Buffer.from('http://example.com/ä\n'.repeat(500));
const MIB = 2 ** 20;

const READABLE: Record<string, Buffer> = {
  plain: TEXT,
  'with a byte order mark': Buffer.concat([Buffer.from('\ufeff'), TEXT]),
  gzip: gzipSync(TEXT),
  'gzip of several members': Buffer.concat([gzipSync(TEXT.subarray(0, 100)), gzipSync(TEXT.subarray(100))]),
  'gzip with a byte order mark inside': gzipSync(Buffer.concat([Buffer.from('\ufeff'), TEXT])),
  zip: zipOf({ name: 'urls.csv', data: TEXT }),
  'zip without compression': zipOf({ name: 'urls.csv', data: TEXT, isStored: true }),
  'zip with a folder': zipOf({ name: 'dump/', isStored: true }, { name: 'dump/urls.csv', data: TEXT }),
};

for (const [what, bytes] of Object.entries(READABLE)) {
  test(`${what} is read from a file and from a stream`, async (t) => {
    const path = join(temporaryFolder(t), 'no-extension');
    writeFileSync(path, bytes);
    const file = await openFile(path);
    assert.deepEqual(await allBytes(file), TEXT);
    for (const size of [1, 1000]) assert.deepEqual(await allBytes(streamed(bytes, size)), TEXT, `chunks of ${size}`);
    const { readBytes, totalBytes } = file.progress();
    assert.equal(totalBytes, bytes.length);
    assert.ok(
      readBytes <= bytes.length && readBytes > bytes.length - 400,
      `${readBytes} of ${bytes.length} packed bytes`,
    );
  });
}

test('short and empty input is plain text', async () => {
  for (const text of ['', 'P', 'PK', '\x1f', 'ab']) {
    assert.equal((await allBytes(streamed(Buffer.from(text, 'latin1')))).toString('latin1'), text);
  }
});

const packedZip = zipOf({ name: 'a', data: TEXT });
const file = (entry: Partial<ZipEntry>) => zipOf({ name: 'a', data: TEXT, ...entry });
const REFUSED: Record<string, [bytes: Buffer, message: RegExp]> = {
  'truncated gzip': [gzipSync(TEXT).subarray(0, -20), /gzip data are cut off; download or copy/],
  'gzip with a damaged byte': [damaged(gzipSync(TEXT), 40), /gzip data are damaged/],
  'truncated zip': [packedZip.subarray(0, -30), /zip file is damaged or cut off; download or copy/],
  'zip with two files': [
    zipOf({ name: 'a', data: TEXT }, { name: 'b', data: TEXT }),
    /contains several files; unpack it and use them one by one$/,
  ],
  'empty zip': [zipOf(), /contains no file/],
  'zip with only a folder': [zipOf({ name: 'a/', isStored: true }), /contains no file/],
  'encrypted zip': [file({ isEncrypted: true }), /encrypted; unpack it first/],
  'zip with damaged data': [damaged(packedZip, 60), /zip data/],
  'zip with a wrong checksum': [file({ claimedCrc: 1 }), /zip data are damaged/],
  'zip with a wrong size': [file({ claimedBytes: 5 }), /zip data are damaged/],
  'zip with a path outside of its folder': [file({ name: '../../etc/passwd' }), /invalid relative path/],
};

for (const [what, [bytes, message]] of Object.entries(REFUSED)) {
  test(`${what} is refused, from a file and from a stream`, async (t) => {
    const path = join(temporaryFolder(t), 'packed');
    writeFileSync(path, bytes);
    await assert.rejects(allBytes(await openFile(path)), refusal(message));
    await assert.rejects(allBytes(streamed(bytes)), refusal(message));
  });
}

test('a zip bomb is refused early, whatever size it claims', async () => {
  const zeros = Buffer.alloc(32 * MIB);
  const bombs = [gzipSync(zeros), zipOf({ name: 'a', data: zeros, claimedBytes: 10 })];
  for (const bomb of bombs) {
    const source = streamed(bomb);
    let unpackedBytes = 0;
    const reading = async () => {
      for await (const chunk of source.bytes()) unpackedBytes += chunk.length;
    };
    await assert.rejects(reading(), refusal(/more than 200 times their size, as in a zip bomb; .*--max-unpack-ratio/));
    assert.ok(unpackedBytes <= 16 * MIB, `${unpackedBytes} bytes were unpacked`);
  }
});

test('a small text of blanks is not refused as a zip bomb', async () => {
  const blanks = Buffer.alloc(MIB / 2, ' ');
  assert.deepEqual(await allBytes(streamed(gzipSync(blanks))), blanks);
});

test('unpacked bytes are limited, for packed and plain input', async () => {
  const limits = { ...INPUT_LIMITS, maxUnpackedBytes: TEXT.length - 1 };
  for (const bytes of [TEXT, gzipSync(TEXT), packedZip]) {
    await assert.rejects(
      allBytes(streamed(bytes, 1000, limits)),
      refusal(/larger than \d+ bytes when unpacked; .*--max-unpacked-bytes/),
    );
  }
  const exact = { ...INPUT_LIMITS, maxUnpackedBytes: TEXT.length };
  assert.equal((await allBytes(streamed(gzipSync(TEXT), 1000, exact))).length, TEXT.length);
});

test('a zip file from a stream leaves no files or handles open, also if reading stops early', async (t) => {
  const folder = temporaryFolder(t);
  const { TMPDIR } = process.env;
  process.env.TMPDIR = folder;
  t.after(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });
  const openBefore = readdirSync('/proc/self/fd').length;
  for await (const _ of streamed(packedZip).bytes()) break;
  await assert.rejects(allBytes(streamed(packedZip.subarray(0, -30))));
  await assert.rejects(allBytes(streamed(packedZip, 100, { ...INPUT_LIMITS, maxUnpackedBytes: 200 })));
  assert.deepEqual(readdirSync(folder), []);
  assert.equal(readdirSync('/proc/self/fd').length, openBefore);
});

test('a missing file is reported with its path', async (t) => {
  const folder = temporaryFolder(t);
  await assert.rejects(openFile(join(folder, 'none.csv')), refusal(/none\.csv: there is no such file; check the path/));
  await assert.rejects(openFile(folder), refusal(/: is a folder; choose a file in it\. .* manifest\.json$/));
});

test('siblings of a file are only the files of its folder', async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, 'feed'));
  writeFileSync(join(folder, 'feed', 'manifest.json'), '{}');
  writeFileSync(join(folder, 'feed', 'event.json'), 'event');
  writeFileSync(join(folder, 'secret.json'), 'secret');
  const source = await openFile(join(folder, 'feed'));
  const event = source.sibling('event.json');
  assert.ok(event);
  assert.equal(String(await allBytes(event)), 'event');
  for (const name of ['../secret.json', '/etc/passwd', 'x/../../secret.json', '..', '.', '']) {
    assert.equal(source.sibling(name), null, name);
  }
});

async function allBytes(source: Source): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of source.bytes()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function streamed(bytes: Buffer, chunkBytes = 16 * 1024, limits: InputLimits = INPUT_LIMITS): Source {
  return sourceOf('stream', inChunks(bytes, chunkBytes), null, () => null, limits);
}

function damaged(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 0xff;
  return copy;
}

function refusal(message: RegExp): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof AppError, String(error));
    assert.match(error.message, message);
    return true;
  };
}
