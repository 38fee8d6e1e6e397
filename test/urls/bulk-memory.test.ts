import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { BASE, until } from '../http/build.ts';
import { authorized, LIMITS, withAccounts } from '../http/with-accounts.ts';
import { liveBytes } from '../live-bytes.ts';

// In a process of its own: it measures memory.

// Not in test/http, whose tests run three times: half a million lookups take some seconds.

test('50 requests of 10,000 lines need the same memory as the first ones', async (t) => {
  const { app, counters, logIn } = await withAccounts(t);
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const headers = { authorization: await logIn() };
  const usedBytes: number[] = [];
  for (let round = 0; round < 50; round += 1) {
    const urls = Array.from({ length: 10_000 }, (_, i) => `http://host${i}.example/${round}\n`);
    const request = { method: 'POST', headers, body: urls.join('') };
    const text = await (await fetch(`http://127.0.0.1:${port}${BASE}/bulk?view=status`, request)).text();
    assert.ok(text.endsWith('"lines":10000,"distinct":10000,"found":0,"invalid":0,"charged":10000}\n'));
    if (round % 10 === 9) {
      await until(() => counters.countStreams() === 0);
      usedBytes.push(liveBytes());
    }
  }
  assert.equal((await app.inject(authorized(LIMITS, headers.authorization))).json().current.qpm, 500_000);
  const [first = 0, ...later] = usedBytes;
  // The test runner remembers promises for a while: up to 9 MB were seen, and 0.3 MB without it. The URLs of the forty
  // requests alone would take more than 40 MB.
  assert.ok(Math.max(...later) - first < 20_000_000, `${usedBytes} bytes`);
});
