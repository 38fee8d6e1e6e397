import type { ObservationInput } from '../../src/core/observation.ts';

/** The current time in all cases. */
export const NOW = 1_767_225_600;
const URL = 'http://203.0.113.7/a.sh';
const SHA256 = 'ab'.repeat(32);
const LONGEST = '😀'.repeat(1_024);

/** Valid lines and the parsed input. */
export const accepted: { why: string; line: object; input: ObservationInput }[] = [
  { why: 'only the required keys', line: { ts: 0, url: URL }, input: { ts: 0, url: URL } },
  {
    why: 'all keys',
    line: {
      ts: NOW,
      url: URL,
      status: 'removed',
      removal: 'abuse',
      reporter: 'nick',
      ip: '203.0.113.7',
      asn: 64500,
      tags: ['elf', 'Mozi'],
      payload: {
        ts: NOW - 1,
        mime_type: 'text/x-shellscript',
        file_type: 'sh',
        file_ext: 'sh',
        file_size: 1842,
        file_name: 'a.sh',
        sha256_hash: SHA256,
        'malware-family': 'Mirai',
      },
    },
    input: {
      ts: NOW,
      url: URL,
      status: 'removed',
      removal: 'abuse',
      reporter: 'nick',
      ip: '203.0.113.7',
      asn: 64500,
      tags: ['elf', 'Mozi'],
      payload: {
        ts: NOW - 1,
        mimeType: 'text/x-shellscript',
        fileType: 'sh',
        fileExt: 'sh',
        fileSize: 1842,
        fileName: 'a.sh',
        sha256: SHA256,
        family: 'Mirai',
      },
    },
  },
  { why: 'a day ahead', line: { ts: NOW + 86_400, url: URL }, input: { ts: NOW + 86_400, url: URL } },
  { why: 'facts only', line: { ts: 1, url: URL, status: null }, input: { ts: 1, url: URL, status: null } },
  {
    why: 'an empty removal reason without a removal',
    line: { ts: 1, url: URL, removal: '' },
    input: { ts: 1, url: URL, removal: '' },
  },
  {
    why: 'several addresses',
    line: { ts: 1, url: URL, ip: ['192.0.2.1', '::1'] },
    input: { ts: 1, url: URL, ip: ['192.0.2.1', '::1'] },
  },
  {
    why: 'an ASN with a list of one address',
    line: { ts: 1, url: URL, ip: ['192.0.2.1'], asn: 4_294_967_295 },
    input: { ts: 1, url: URL, ip: ['192.0.2.1'], asn: 4_294_967_295 },
  },
  {
    why: 'a payload as the API shows it, unknown values null',
    line: { ts: 1, url: URL, payload: { file_size: 0, file_name: null, sha256_hash: SHA256.toUpperCase() } },
    input: { ts: 1, url: URL, payload: { fileName: null, fileSize: 0, sha256: SHA256.toUpperCase() } },
  },
  {
    why: 'the longest text',
    line: { ts: 1, url: URL, reporter: LONGEST },
    input: { ts: 1, url: URL, reporter: LONGEST },
  },
];

/** Invalid lines and the beginning of the reason. `line` is a text, or keys that are added to a valid observation. */
export const refused: { why: string; line: string | object; reason: string }[] = [
  { why: 'invalid JSON', line: '{"ts":1', reason: 'must be a JSON object' },
  { why: 'an empty line', line: '', reason: 'must be a JSON object' },
  { why: 'a list', line: '[]', reason: 'must be a JSON object' },
  { why: 'null', line: 'null', reason: 'must be a JSON object' },
  { why: 'no ts', line: '{"url":"http://a.example/"}', reason: 'ts is missing' },
  { why: 'no url', line: '{"ts":1}', reason: 'url is missing' },
  { why: 'ts as a text', line: { ts: '1' }, reason: 'ts: must be an integer: Unix seconds' },
  { why: 'ts with a fraction', line: { ts: 1.5 }, reason: 'ts: must be an integer' },
  { why: 'ts below 0', line: { ts: -1 }, reason: 'ts: must be an integer' },
  { why: 'ts in milliseconds', line: { ts: NOW * 1000 }, reason: 'ts: more than a day in the future' },
  { why: 'more than a day ahead', line: { ts: NOW + 86_401 }, reason: 'ts: more than a day in the future' },
  { why: 'a URL as a number', line: { url: 1 }, reason: 'url: must be a string' },
  { why: 'a status of an event', line: { status: 'added' }, reason: 'status: must be one of "online"' },
  { why: 'a removal reason without a removal', line: { removal: 'abuse' }, reason: 'removal is allowed only with' },
  {
    why: 'a removal reason without a status',
    line: { status: null, removal: 'abuse' },
    reason: 'removal is allowed only with',
  },
  {
    why: 'a removal reason that is null',
    line: { status: 'removed', removal: null },
    reason: 'removal: must be a string',
  },
  { why: 'a reporter that is null', line: { reporter: null }, reason: 'reporter: must be a string' },
  { why: 'a text too long', line: { reporter: `${LONGEST}x` }, reason: 'reporter: at most 1024' },
  { why: 'a control character', line: { reporter: 'a\u0007' }, reason: 'reporter: control characters' },
  { why: 'a C1 control character', line: { reporter: 'a\u0085' }, reason: 'reporter: control characters' },
  { why: 'an unpaired surrogate', line: { reporter: '\ud800' }, reason: 'reporter: control characters' },
  { why: 'an address as a number', line: { ip: 1 }, reason: 'ip: must be a string' },
  { why: 'a list with a number', line: { ip: ['192.0.2.1', 1] }, reason: 'ip: must be a string, or a list' },
  { why: 'an ASN without an address', line: { asn: 64500 }, reason: 'asn is allowed only with a single ip' },
  {
    why: 'an ASN with an empty list of addresses',
    line: { ip: [], asn: 64500 },
    reason: 'asn is allowed only with a single ip',
  },
  {
    why: 'an ASN with two addresses',
    line: { ip: ['192.0.2.1', '::1'], asn: 64500 },
    reason: 'asn is allowed only with a single ip',
  },
  { why: 'an ASN above 32 bits', line: { ip: '::1', asn: 2 ** 32 }, reason: 'asn: must be an integer' },
  { why: 'an unknown key', line: { reportet: 'nick' }, reason: 'unknown key "reportet"' },
  {
    why: 'the key __proto__',
    line: '{"ts":1,"url":"http://a.example/","__proto__":{}}',
    reason: 'unknown key "__proto__"',
  },
  { why: 'a payload that is null', line: { payload: null }, reason: 'payload: must be an object' },
  { why: 'a payload that is a list', line: { payload: [] }, reason: 'payload: must be an object' },
  { why: 'an empty payload', line: { payload: {} }, reason: 'payload: must have at least one key' },
  {
    why: 'an unknown key of a payload',
    line: { payload: { sha256: SHA256 } },
    reason: 'payload: unknown key "sha256"',
  },
  { why: 'a hash too short', line: { payload: { sha256_hash: 'ab' } }, reason: 'payload: sha256_hash: must be 64' },
  { why: 'a size below 0', line: { payload: { file_size: -1 } }, reason: 'payload: file_size: must be an integer' },
  {
    why: 'a size with a fraction',
    line: { payload: { file_size: 0.5 } },
    reason: 'payload: file_size: must be an integer',
  },
  { why: 'a name with a line end', line: { payload: { file_name: 'a\nb' } }, reason: 'payload: file_name: control' },
  {
    why: 'a payload time that is null',
    line: { payload: { ts: null } },
    reason: 'payload: ts: must be an integer',
  },
  { why: 'a payload more than a day ahead', line: { payload: { ts: NOW + 86_401 } }, reason: 'payload: ts: more than' },
];

export const GOOD = { ts: 1, url: URL };
