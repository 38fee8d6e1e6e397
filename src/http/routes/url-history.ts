import { paths } from '../../contract/paths.ts';
import { HISTORY_LIMIT, UrlHistoryResponse } from '../../contract/url.ts';
import { lookUpEndpoint } from '../look-up.ts';

export const urlHistory = lookUpEndpoint({
  path: paths.urlHistory,
  operationId: 'urlHistory',
  summary: 'The last 100 events and the last 100 payloads of a URL',
  schema: UrlHistoryResponse,
  lookUp: (store, url) => store.urlHistory(url, HISTORY_LIMIT),
});
