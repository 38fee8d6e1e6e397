import type { FileDetails } from '../core/records.ts';

export type Details = [
  mimeType: string | null,
  fileType: string | null,
  fileExt: string | null,
  fileSize: number | null,
  fileName: string | null,
];

/** What is known of a file. */
export type KnownFile = { familyId: number | null; details: Details };

/** A file after somebody told of it: what is told first stays. */
export function fillFile(known: KnownFile, told: KnownFile): KnownFile & { isChanged: boolean } {
  const details = known.details.map((value, i) => value ?? told.details[i] ?? null) as Details;
  const familyId = known.familyId ?? told.familyId;
  const isChanged = familyId !== known.familyId || details.some((value, i) => value !== known.details[i]);
  return { familyId, details, isChanged };
}

/** What a payload keeps itself: the details that differ from its file's. */
export function ownDetails(told: Details, file: Details): Details {
  return told.map((value, i) => (value === file[i] ? null : value)) as Details;
}

export function detailsOf({ mimeType, fileType, fileExt, fileSize, fileName }: FileDetails): Details {
  return [mimeType, fileType, fileExt, fileSize, fileName];
}
