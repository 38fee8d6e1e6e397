const UNTRUSTED =
  'has a TLS certificate that is not trusted here: if you trust it, name its authority in NODE_EXTRA_CA_CERTS';

const REASONS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'has an expired TLS certificate: its operator must renew it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'has a TLS certificate for another host name: check the URL',
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
};

/** Why a certificate was refused, to follow the name of its server; null for any other error. */
export function certificateRefusal(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return (typeof code === 'string' && REASONS[code]) || null;
}
