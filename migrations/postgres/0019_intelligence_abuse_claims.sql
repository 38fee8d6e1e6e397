-- The newest evidence of a source that says that the site was broken into, among any number of names. Few evidence says so, and
-- imports of URLs write no row of domain_evidence.
create index domain_evidence_claims on domain_evidence (domain_id, source_id, kind, last_ts)
  where strpos(details, '"abused":true') > 0;
