/** The servers that this test run may use: databases and keys of its own making only. */
export function postgresServerUrl(): string {
  return given('URLWARDEN_TEST_POSTGRES_URL');
}

export function redisServerUrl(): string {
  return given('URLWARDEN_TEST_REDIS_URL');
}

function given(name: string): string {
  const url = process.env[name];
  if (url !== undefined) return url;
  throw new Error(`${name} is not set: node --test --test-global-setup=./test/servers/global.ts brings the servers`);
}
