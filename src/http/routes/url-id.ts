import { paths } from '../../contract/paths.ts';
import { UrlIdResponse } from '../../contract/url.ts';
import { lookUpEndpoint } from '../look-up.ts';

const toJson = (id: number | null) => (id === null ? null : `{"id":${id}}`);

export const urlId = lookUpEndpoint({
  path: paths.urlId,
  operationId: 'urlId',
  summary: 'The numeric id of a URL',
  schema: UrlIdResponse,
  lookUp(store, url) {
    const id = store.urlId(url);
    return id instanceof Promise ? id.then(toJson) : toJson(id);
  },
});
