-- The URLs that are online, for lists for devices: a few per cent of all. Without a time: a confirmation must not move an
-- entry. Entries are added at the end of the index and deleted when the URL goes offline.
create index urls_online on urls (event_kind) where event_kind < 2;
