-- What a feed says about addresses and domains. trust_permille: 900 is a trust of 0.9. life_seconds: null for the life of the
-- dataset. dataset, evidence_kind, list_kind: for formats that do not say it themselves.
alter table feeds add column trust_permille integer not null default 900;
alter table feeds add column life_seconds integer;
alter table feeds add column dataset text;
alter table feeds add column evidence_kind text;
alter table feeds add column list_kind text;
