import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIRST_HIDDEN_KIND } from '../../src/urls/store.ts';
import { ENTRY_KINDS } from '../../src/urls/stored-timeline.ts';
import { eventTail, NULL, payloadTail, recordJson, statusJson, toJson } from '../../src/urls/wire.ts';

const FILE = { mimeType: 'a', fileType: 'b', fileExt: 'c', fileSize: 1, fileName: 'd', sha256: 'e' };

test('a half surrogate is escaped, so that the text is valid UTF-8', () => {
  assert.equal(toJson('\ud800'), '"\\ud800"');
  assert.ok(payloadTail({ ...FILE, fileName: '\udfff' }, NULL).isWellFormed());
});

test('every kind of event has a name and a status', () => {
  const kinds = ENTRY_KINDS.slice(0, FIRST_HIDDEN_KIND).map((name, kind) => {
    const event = JSON.parse(recordJson(1, eventTail(kind, '""', '""')));
    const status = JSON.parse(statusJson(1, kind, '""', '""'));
    assert.equal(event.status, name);
    return status.status;
  });
  assert.deepEqual(kinds, ['online', 'online', 'offline', 'offline']);
});
