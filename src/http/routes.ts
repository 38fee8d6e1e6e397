import type { Endpoint } from './endpoint.ts';
import type { Metering } from './metering.ts';
import { healthz } from './routes/healthz.ts';
import { limits } from './routes/limits.ts';
import { login } from './routes/login.ts';
import { openapi } from './routes/openapi.ts';
import { readyz } from './routes/readyz.ts';
import { urlHistory } from './routes/url-history.ts';
import { urlId } from './routes/url-id.ts';
import { urlLast } from './routes/url-last.ts';
import { urlPayloads } from './routes/url-payloads.ts';
import { urlSearch } from './routes/url-search.ts';
import { urlStatuses } from './routes/url-statuses.ts';

/**
 * Who may ask, and how it is counted. `open`: everyone. `account`: whoever has a token. `dataset`: whose tier has the URL
 * data besides.
 */
export type Route = { endpoint: Endpoint; access: 'open' | 'account' | 'dataset'; metering: Metering };

/** Everything this server answers to. */
export const routes: readonly Route[] = [
  { endpoint: login, access: 'open', metering: 'none' },
  { endpoint: limits, access: 'account', metering: 'calls' },
  { endpoint: urlId, access: 'dataset', metering: 'query' },
  { endpoint: urlLast, access: 'dataset', metering: 'query' },
  { endpoint: urlHistory, access: 'dataset', metering: 'query' },
  { endpoint: urlSearch, access: 'dataset', metering: 'query' },
  { endpoint: urlStatuses, access: 'dataset', metering: 'query' },
  { endpoint: urlPayloads, access: 'dataset', metering: 'query' },
  { endpoint: healthz, access: 'open', metering: 'none' },
  { endpoint: readyz, access: 'open', metering: 'none' },
  { endpoint: openapi, access: 'open', metering: 'none' },
];
