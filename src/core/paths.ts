const URL_OBJECT = '/api/intel/v2/byobject/url';

/** Every path of the API. `:id` stands for a URLID. */
export const paths = {
  login: '/api/v1/login',
  limits: '/api/intel/v1/limits',
  urlId: `${URL_OBJECT}/id`,
  urlLast: `${URL_OBJECT}/last`,
  urlHistory: `${URL_OBJECT}/history`,
  urlSearch: `${URL_OBJECT}/search`,
  urlStatuses: `${URL_OBJECT}/:id/statuses`,
  urlPayloads: `${URL_OBJECT}/:id/payloads`,
  healthz: '/healthz',
  readyz: '/readyz',
  openapi: '/openapi.json',
} as const;
