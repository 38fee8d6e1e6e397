-- The time of the newest version of the list of a source that was imported to its end; null without one. An older version that is
-- imported later adds nothing: it would bring back entries that were deleted since.
alter table sources add column list_ts bigint;
