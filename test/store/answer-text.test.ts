import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  eventText,
  fileText,
  jsonOf,
  NULL,
  ownFileText,
  payloadText,
  statusText,
} from '../../src/store/answer-text.ts';
import { ENTRY_KINDS, FIRST_HIDDEN_KIND } from '../../src/store/entry-kind.ts';

const FILE = { mimeType: 'a', fileType: 'b', fileExt: 'c', fileSize: 1, fileName: 'd', sha256: 'e' };

test('half of a surrogate pair is escaped, so that the text can be sent as UTF-8', () => {
  assert.equal(jsonOf('\ud800'), '"\\ud800"');
  assert.ok(fileText({ ...FILE, fileName: '\udfff' }).isWellFormed());
});

test('every kind of event that is shown has a name, and a status', () => {
  const kinds = ENTRY_KINDS.slice(0, FIRST_HIDDEN_KIND).map((name, kind) => {
    const [event, status] = [eventText, statusText].map((text) => JSON.parse(text(1, kind, '""', '""')));
    assert.equal(event.status, name);
    return status.status;
  });
  assert.deepEqual(kinds, ['online', 'online', 'offline', 'offline']);
});

test("each detail that an observation told itself wins, an empty one too; the rest is the file's", () => {
  const text = fileText(FILE);
  const details = ['mime_type', 'file_type', 'file_ext', 'file_size', 'file_name'];
  const known = JSON.parse(payloadText(1, text, NULL));
  for (const [i, name] of details.entries()) {
    const value = name === 'file_size' ? 0 : '';
    const own = details.map((_, j) => (i === j ? value : null)) as Parameters<typeof ownFileText>[1];
    assert.deepEqual(JSON.parse(payloadText(1, ownFileText(text, own), NULL)), { ...known, [name]: value });
  }
});
