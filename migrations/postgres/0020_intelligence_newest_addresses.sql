-- Of a domain with very many addresses or senders the newest are checked. A day never changes, a ts grows within the day.
create index name_addresses_by_day on name_addresses (domain_id, day, ip, ts);
create index senders_by_time on senders (domain_id, ts, ip, helo);
