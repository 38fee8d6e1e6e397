export const USERNAME_MAX_LENGTH = 254;

/**
 * What usernames are compared by: `Ada@Example` and `ada@example` are one account, full-width letters too. Never
 * judged as an e-mail address: real ones have no top-level domain. Null for what cannot be a username.
 */
export function usernameKey(username: string): string | null {
  if (username === '' || username.length > USERNAME_MAX_LENGTH) return null;
  // PostgreSQL keeps neither in a text.
  if (!username.isWellFormed() || username.includes('\0')) return null;
  return username.normalize('NFKC').toLowerCase();
}
