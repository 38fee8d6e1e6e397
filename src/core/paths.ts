const URL_OBJECT = '/api/intel/v2/byobject/url';
const CIDR_OBJECT = '/api/intel/v1/byobject/cidr/:dataset/:mode/:type/:ip';
const DOMAIN_OBJECT = '/api/intel/v2/byobject/domain/:domain';
const DOMAINS = '/api/intel/v2/domains';

const ADMIN = '/api/admin/v1';

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
  cidr: CIDR_OBJECT,
  cidrMask: `${CIDR_OBJECT}/:mask`,
  domain: DOMAIN_OBJECT,
  domainOverview: `${DOMAIN_OBJECT}/overview`,
  domainDimensions: `${DOMAIN_OBJECT}/dimensions`,
  domainListing: `${DOMAIN_OBJECT}/listing`,
  domainContexts: `${DOMAIN_OBJECT}/contexts`,
  domainSenders: `${DOMAIN_OBJECT}/senders`,
  domainServers: `${DOMAIN_OBJECT}/ns`,
  domainAddresses: `${DOMAIN_OBJECT}/a`,
  domainHostnames: `${DOMAIN_OBJECT}/hostnames`,
  domainUrls: `${DOMAIN_OBJECT}/malware/urls`,
  domainFiles: `${DOMAIN_OBJECT}/malware/hashes`,
  domainExplain: `${DOMAIN_OBJECT}/explain`,
  publicSuffixes: `${DOMAINS}/tld`,
  tags: `${DOMAINS}/tags`,
  contexts: `${DOMAINS}/contexts`,
  contextsAlias: '/api/intel/v2/context',
  dimensions: `${DOMAINS}/dimensions`,
  adminAccounts: `${ADMIN}/accounts`,
  adminAccount: `${ADMIN}/accounts/:username`,
  adminAccountRevoke: `${ADMIN}/accounts/:username/revoke`,
  adminAccountRemove: `${ADMIN}/accounts/:username/remove`,
  adminAccountUsage: `${ADMIN}/accounts/:username/usage`,
  adminTiers: `${ADMIN}/tiers`,
  adminTierRemove: `${ADMIN}/tiers/:name/remove`,
  adminKeys: `${ADMIN}/keys`,
  adminKeyRotate: `${ADMIN}/keys/rotate`,
  adminAudit: `${ADMIN}/audit`,
  adminUsage: `${ADMIN}/usage`,
  adminHealth: `${ADMIN}/health`,
  healthz: '/healthz',
  readyz: '/readyz',
  openapi: '/openapi.json',
} as const;
