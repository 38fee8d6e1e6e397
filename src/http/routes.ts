import type { Endpoint } from './endpoint.ts';
import { healthz } from './routes/healthz.ts';
import { openapi } from './routes/openapi.ts';
import { readyz } from './routes/readyz.ts';
import { urlHistory } from './routes/url-history.ts';
import { urlId } from './routes/url-id.ts';
import { urlLast } from './routes/url-last.ts';
import { urlPayloads } from './routes/url-payloads.ts';
import { urlSearch } from './routes/url-search.ts';
import { urlStatuses } from './routes/url-statuses.ts';

/** `token`: only for those whom `services.authenticate` admits. `open`: for everyone. */
export type Route = { access: 'token' | 'open'; endpoint: Endpoint };

/** Everything this server answers to. */
export const routes: readonly Route[] = [
  { access: 'token', endpoint: urlId },
  { access: 'token', endpoint: urlLast },
  { access: 'token', endpoint: urlHistory },
  { access: 'token', endpoint: urlSearch },
  { access: 'token', endpoint: urlStatuses },
  { access: 'token', endpoint: urlPayloads },
  { access: 'open', endpoint: healthz },
  { access: 'open', endpoint: readyz },
  { access: 'open', endpoint: openapi },
];
