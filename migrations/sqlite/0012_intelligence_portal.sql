-- The names that facts give for an address. Only facts: those of URLs are found by resolutions_by_ip, and imports of URLs
-- write no row of this index.
create index name_addresses_by_ip on name_addresses (ip, ts, domain_id, host_id) where origin = 1;
