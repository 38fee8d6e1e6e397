import { paths } from '../../contract/paths.ts';
import { UrlLastResponse } from '../../contract/url.ts';
import { lookUpEndpoint } from '../look-up.ts';

export const urlLast = lookUpEndpoint({
  path: paths.urlLast,
  operationId: 'urlLast',
  summary: 'The last status and the last payload of a URL',
  schema: UrlLastResponse,
  lookUp: (store, url) => store.urlLast(url),
});
