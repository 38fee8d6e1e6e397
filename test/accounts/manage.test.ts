import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  changePassword,
  createAccount,
  removeAccount,
  requireAccount,
  revokeTokens,
  setAccount,
} from '../../src/accounts/manage.ts';
import { verifyPassword } from '../../src/accounts/passwords.ts';
import { temporaryControl } from '../temporary-control.ts';

const TS = 1_700_000_000;
const NEW = { username: 'Ada@Example', tier: 'standard', password: 'correct horse' };

test('a new account has a sub of eight digits and a hashed password', async (t) => {
  const control = await temporaryControl(t);
  const account = await createAccount(control, NEW, TS);
  assert.match(account.sub, /^[1-9]\d{7}$/);
  assert.deepEqual(await requireAccount(control, 'ADA@example'), account);
  const { passwordHash, sub: _, ...others } = account;
  assert.deepEqual(others, {
    username: 'Ada@Example',
    usernameKey: 'ada@example',
    tier: 'standard',
    isEnabled: true,
    isAdmin: false,
    generation: 1,
    createdTs: TS,
  });
  assert.equal(await verifyPassword('correct horse', passwordHash), true);
});

test('when a sub is taken, another one is drawn', async (t) => {
  const control = await temporaryControl(t);
  const drawn = ['10000001', '10000001', '10000001', '10000002'];
  const draw = () => drawn.shift() ?? '';
  await createAccount(control, NEW, TS, draw);
  assert.equal((await createAccount(control, { ...NEW, username: 'bob' }, TS, draw)).sub, '10000002');
  const stuck = createAccount(control, { ...NEW, username: 'eve' }, TS, () => '10000001');
  await assert.rejects(stuck, { code: 'unavailable', message: /try again/ });
});

test('of two concurrent additions of the same username, one is refused with a message', async (t) => {
  const control = await temporaryControl(t);
  const [first, second] = await Promise.allSettled([createAccount(control, NEW, TS), createAccount(control, NEW, TS)]);
  assert.ok(first && second);
  const refused = [first, second].filter((outcome) => outcome.status === 'rejected');
  assert.deepEqual(
    refused.map(({ reason }) => reason.code),
    ['bad_request'],
  );
});

test('an invalid account is refused with a message', async (t) => {
  const control = await temporaryControl(t);
  await createAccount(control, NEW, TS);
  const refusals = [
    [{ username: 'ADA@EXAMPLE' }, 'bad_request', /"Ada@Example" already/],
    [{ username: '' }, 'bad_request', /1 to 254 characters/],
    [{ username: 'x'.repeat(255) }, 'bad_request', /1 to 254 characters/],
    [{ username: '   ' }, 'bad_request', /" {3}" begins or ends with white space/],
    [{ username: 'ada@example ' }, 'bad_request', /begins or ends with white space/],
    [{ username: '\u3000ada@example' }, 'bad_request', /begins or ends with white space/],
    [{ username: 'ada\u200b@example' }, 'bad_request', /characters that are not shown/],
    [{ username: 'ada\u001b[2J@example' }, 'bad_request', /"ada\\u001b\[2J@example" has characters that are not shown/],
    [{ username: 'b', tier: 'gold' }, 'not_found', /no tier "gold"\. There are: developer, standard, enterprise, oper/],
    [{ username: 'b', password: '' }, 'bad_request', /1 to 1024 bytes/],
    [{ username: 'b', password: 'é'.repeat(513) }, 'bad_request', /1 to 1024 bytes/],
  ] as const;
  for (const [over, code, message] of refusals) {
    await assert.rejects(createAccount(control, { ...NEW, ...over }, TS), { name: 'AppError', code, message });
  }
  assert.equal((await control.accounts()).length, 1);
  await createAccount(control, { ...NEW, username: 'x'.repeat(254), password: 'é'.repeat(512) }, TS);
  await createAccount(control, { ...NEW, username: 'Ada Lovelace' }, TS);
});

test('every operation changes the given account', async (t) => {
  const control = await temporaryControl(t);
  const account = await createAccount(control, NEW, TS);
  const now = async () => control.accountBySub(account.sub);

  await setAccount(control, 'ada@example', { tier: 'enterprise' });
  assert.equal((await now())?.tier, 'enterprise');
  await setAccount(control, 'ada@example', { isEnabled: false });
  assert.equal((await now())?.isEnabled, false);
  await setAccount(control, 'ada@example', { isEnabled: true });
  assert.deepEqual(await now(), { ...account, tier: 'enterprise' }, 'tokens stay valid');
  await revokeTokens(control, 'ada@example');
  assert.deepEqual(await now(), { ...account, tier: 'enterprise', generation: 2 });
  await changePassword(control, 'ada@example', 'new');
  assert.equal((await now())?.generation, 3);
  assert.equal(await verifyPassword('new', (await now())?.passwordHash ?? ''), true);
  await removeAccount(control, 'ada@example', TS);
  assert.equal(await now(), null);
});

test('an older account whose name would be refused now can be changed', async (t) => {
  const control = await temporaryControl(t);
  const account = await createAccount(control, NEW, TS);
  for (const [i, username] of ['   ', 'ada@example ', 'a\tb'].entries()) {
    await control.addAccount({ ...account, sub: `1000000${i}`, username, usernameKey: username });
    await changePassword(control, username, 'new');
    await removeAccount(control, username, TS);
  }
  assert.deepEqual(await control.accounts(), [account]);
});

test('the error for an unknown account says what to do', async (t) => {
  const control = await temporaryControl(t);
  const operations = [
    () => setAccount(control, 'eve', { tier: 'standard' }),
    () => setAccount(control, 'eve', { isEnabled: false }),
    () => changePassword(control, 'eve', 'x'),
    () => revokeTokens(control, 'eve'),
    () => removeAccount(control, 'eve', TS),
    () => requireAccount(control, 'eve'),
  ];
  for (const operation of operations)
    await assert.rejects(operation(), { code: 'not_found', message: /"eve": see urlwarden account list/ });
});

test('an unknown tier is refused for an existing account', async (t) => {
  const control = await temporaryControl(t);
  await createAccount(control, NEW, TS);
  await assert.rejects(setAccount(control, NEW.username, { tier: 'gold' }), { code: 'not_found', message: /"gold"/ });
});
