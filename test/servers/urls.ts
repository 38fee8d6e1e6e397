/** The servers of this test run. A test uses only databases and keys that it created. */
export function postgresServerUrl(): string {
  return given('URLWARDEN_TEST_POSTGRES_URL');
}

export function redisServerUrl(): string {
  return given('URLWARDEN_TEST_REDIS_URL');
}

function given(name: string): string {
  const url = process.env[name];
  if (url !== undefined) return url;
  throw new Error(`${name} is not set: node --test --test-global-setup=./test/servers/global.ts starts the servers`);
}
