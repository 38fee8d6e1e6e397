-- The URLs that are online, for lists for devices: a few per cent of all. Without a time: a confirmation must not move an
-- entry. Entries are added at the end of the index.
create index urls_online on urls (id) where event_kind < 2;
