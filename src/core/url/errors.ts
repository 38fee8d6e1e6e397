/** Why a URL is refused, and how to correct it. These messages are shown to users. */
export const URL_ERRORS = {
  invalid_type: 'The URL must be a string.',
  too_long: 'The URL is longer than 8,192 characters, as sent or after its characters are escaped. Send a shorter URL.',
  invalid_unicode: 'The URL contains an unpaired surrogate. Send well-formed Unicode.',
  empty: 'The URL is empty. Send a URL such as http://example.com/.',
  missing_scheme: 'The URL has no scheme. Begin it with http://, https:// or ftp://.',
  unsupported_scheme:
    'The scheme is not supported. Use http, https or ftp; write a defanged URL (hxxp) in its real form.',
  missing_host: 'The URL has no host. Write it as scheme://host/path, with exactly two slashes before the host.',
  invalid_host:
    'The host is not valid. Use a DNS name, an IPv4 address or an IPv6 address in brackets, without backslashes, ' +
    'blanks or defanging such as [.].',
  invalid_port: 'The port is not valid. Use a number from 0 to 65535; write an IPv6 address in brackets.',
} as const;

export type UrlError = keyof typeof URL_ERRORS;
