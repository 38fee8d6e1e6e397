/** Observations in order of arrival, and the resulting events. */
export const timelines: { why: string; arrive: string[]; events: string[] }[] = [
  // One row for every transition.
  { why: 'first seen online', arrive: ['online@10'], events: ['added@10'] },
  { why: 'first seen offline: it must have been added', arrive: ['offline@10'], events: ['added@10', 'offline@10'] },
  {
    why: 'first seen removed: it must have been added',
    arrive: ['removed@10 abuse'],
    events: ['added@10', 'removed@10 abuse'],
  },
  { why: 'online again confirms', arrive: ['online@10', 'online@20'], events: ['added@10'] },
  { why: 'online, then offline', arrive: ['online@10', 'offline@20'], events: ['added@10', 'offline@20'] },
  {
    why: 'offline again confirms',
    arrive: ['online@10', 'offline@20', 'offline@30'],
    events: ['added@10', 'offline@20'],
  },
  {
    why: 'offline, then online',
    arrive: ['online@10', 'offline@20', 'online@30'],
    events: ['added@10', 'offline@20', 'online@30'],
  },
  {
    why: 'online, then removed',
    arrive: ['online@10', 'removed@20 takedown'],
    events: ['added@10', 'removed@20 takedown'],
  },
  {
    why: 'offline, then removed',
    arrive: ['online@10', 'offline@20', 'removed@30 takedown'],
    events: ['added@10', 'offline@20', 'removed@30 takedown'],
  },
  {
    why: 'removed, then online: added anew',
    arrive: ['online@10', 'removed@20', 'online@30'],
    events: ['added@10', 'removed@20', 'added@30'],
  },
  { why: 'removed, then offline confirms', arrive: ['removed@20', 'offline@30'], events: ['added@20', 'removed@20'] },
  {
    why: 'removed again confirms, the first reason stays',
    arrive: ['removed@20 abuse', 'removed@30 takedown'],
    events: ['added@20', 'removed@20 abuse'],
  },
  {
    why: 'removed, offline, online: still added anew, the offline was no event',
    arrive: ['removed@20', 'offline@30', 'online@40'],
    events: ['added@20', 'removed@20', 'added@40'],
  },
  // Equal times: online < offline < removed.
  {
    why: 'three statuses at the same time, removed first',
    arrive: ['removed@10 abuse', 'offline@10', 'online@10'],
    events: ['added@10', 'offline@10', 'removed@10 abuse'],
  },
  {
    why: 'a removal reason takes precedence over none at the same time',
    arrive: ['removed@10', 'removed@10 abuse', 'removed@10'],
    events: ['added@10', 'removed@10 abuse'],
  },
  // Late arrivals.
  {
    why: 'late offline inside an online run splits it at the newest confirmation',
    arrive: ['online@10', 'online@30', 'offline@20'],
    events: ['added@10', 'offline@20', 'online@30'],
  },
  {
    why: 'late online inside an offline run splits it',
    arrive: ['offline@10', 'offline@30', 'online@20'],
    events: ['added@10', 'offline@10', 'online@20', 'offline@30'],
  },
  {
    why: 'the old status starts again at its newest confirmation',
    arrive: ['online@10', 'online@20', 'online@40', 'offline@15'],
    events: ['added@10', 'offline@15', 'online@40'],
  },
  {
    why: 'online before the first event: the old added event is removed',
    arrive: ['online@20', 'online@10'],
    events: ['added@10'],
  },
  {
    why: 'offline before the first event: the old added event becomes online',
    arrive: ['online@20', 'offline@10'],
    events: ['added@10', 'offline@10', 'online@20'],
  },
  {
    why: 'online before an implied added: the implied event is removed',
    arrive: ['offline@20', 'online@10'],
    events: ['added@10', 'offline@20'],
  },
  {
    why: 'removed before the first event: the old added event stays',
    arrive: ['online@20', 'removed@10 abuse'],
    events: ['added@10', 'removed@10 abuse', 'added@20'],
  },
  {
    why: 'a late status in a gap moves the start of the next run',
    arrive: ['offline@10', 'online@30', 'online@20'],
    events: ['added@10', 'offline@10', 'online@20'],
  },
  {
    why: 'a late removal makes the later offline a confirmation',
    arrive: ['online@10', 'offline@30', 'removed@20 abuse'],
    events: ['added@10', 'removed@20 abuse'],
  },
  {
    why: 'late online between two removals: the second reason is the last one',
    arrive: ['removed@10 abuse', 'removed@30 takedown', 'online@20'],
    events: ['added@10', 'removed@10 abuse', 'added@20', 'removed@30 takedown'],
  },
  {
    why: 'late online after a removal and before an offline: the offline counts again',
    arrive: ['removed@10 abuse', 'offline@30', 'online@20'],
    events: ['added@10', 'removed@10 abuse', 'added@20', 'offline@30'],
  },
];
