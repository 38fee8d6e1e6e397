-- URLs without a status, by host: they have no event by which their domain would find them. Almost every URL has a status, so
-- the index is small. event_kind is in the condition of urls_online already: no update of a URL writes more than before.
create index urls_without_status on urls (host_id, id) where event_kind is null;
