import { paths } from '../../contract/paths.ts';
import { UrlLastResponse } from '../../contract/url.ts';
import type { UrlLast } from '../../core/records.ts';
import { lookUpEndpoint } from '../look-up.ts';
import { presentLast } from '../present.ts';

const toJson = (last: UrlLast | null) => last && JSON.stringify(presentLast(last));

export const urlLast = lookUpEndpoint({
  path: paths.urlLast,
  operationId: 'urlLast',
  summary: 'The last status and the last payload of a URL',
  schema: UrlLastResponse,
  lookUp(store, url) {
    const last = store.urlLast(url);
    return last instanceof Promise ? last.then(toJson) : toJson(last);
  },
});
