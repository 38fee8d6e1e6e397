import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventTail, jsonOf, NULL, payloadTail, recordText, statusText } from '../../src/store/answer-text.ts';
import { ENTRY_KINDS, FIRST_HIDDEN_KIND } from '../../src/store/entry-kind.ts';

const FILE = { mimeType: 'a', fileType: 'b', fileExt: 'c', fileSize: 1, fileName: 'd', sha256: 'e' };

test('half of a surrogate pair is escaped, so that the text can be sent as UTF-8', () => {
  assert.equal(jsonOf('\ud800'), '"\\ud800"');
  assert.ok(payloadTail({ ...FILE, fileName: '\udfff' }, NULL).isWellFormed());
});

test('every kind of event that is shown has a name, and a status', () => {
  const kinds = ENTRY_KINDS.slice(0, FIRST_HIDDEN_KIND).map((name, kind) => {
    const event = JSON.parse(recordText(1, eventTail(kind, '""', '""')));
    const status = JSON.parse(statusText(1, kind, '""', '""'));
    assert.equal(event.status, name);
    return status.status;
  });
  assert.deepEqual(kinds, ['online', 'online', 'offline', 'offline']);
});
