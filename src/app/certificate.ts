import type { Settings } from '../config/settings.ts';
import { expiryOf, readTlsPair, type TlsPair, timeFaultOf } from '../http/tls.ts';

/** The certificate of the server and its key, which can be read again while it runs. */
type Certificate = {
  pair(): TlsPair;
  /** Throws if the files cannot be used; the pair stays as it was. */
  reread(): TlsPair;
  /** Unix seconds. */
  expiryTs(): number;
  /** Why clients refuse the certificate now; null if they do not. */
  timeFault(): string | null;
};

/** Null without TLS. */
export function readCertificate({ tlsCertFile, tlsKeyFile }: Settings): Certificate | null {
  if (tlsCertFile === null || tlsKeyFile === null) return null;
  const read = () => readTlsPair(tlsCertFile, tlsKeyFile);
  let pair = read();
  return {
    pair: () => pair,
    reread() {
      pair = read();
      return pair;
    },
    expiryTs: () => Number(expiryOf(pair)) / 1000,
    timeFault: () => timeFaultOf(pair, Date.now()),
  };
}
