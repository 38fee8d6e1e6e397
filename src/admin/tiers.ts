import { tierFields } from '../accounts/audit-fields.ts';
import { allTiers, limitsJson, removeTier, requireTier, setTier } from '../accounts/tiers.ts';
import { recordChange } from '../audit/request-record.ts';
import { paths } from '../core/paths.ts';
import { BUILT_IN_TIERS, DATASETS, DEFAULT_TRS, limitsOf, type Tier, toDatasets } from '../core/tier.ts';
import { type Endpoint, json, type Route } from '../http/endpoint.ts';
import { adminRoute, Nothing, pathParameter, pathText } from './route.ts';
import type { AdminServices } from './services.ts';
import { ListOf, SetTierRequest, TierItem } from './wire.ts';

export function tierAdminRoutes(services: AdminServices): Route[] {
  return [adminRoute(listTiers(services)), adminRoute(setOneTier(services)), adminRoute(removeOneTier(services))];
}

function toItem(tier: Tier, accounts: number): TierItem {
  const { ads, ...limits } = limitsJson(limitsOf(tier));
  return { name: tier.name, built_in: BUILT_IN_TIERS.includes(tier), ads: [...ads], ...limits, accounts };
}

async function countByTier({ control }: AdminServices): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for await (const page of control.accountPages()) {
    for (const { tier } of page) counts.set(tier, (counts.get(tier) ?? 0) + 1);
  }
  return counts;
}

const listTiers = (services: AdminServices): Endpoint => ({
  method: 'GET',
  path: paths.adminTiers,
  operationId: 'adminTiers',
  summary: 'The built-in tiers and your own, with all limits',
  response: json(ListOf(TierItem)),
  read: () => undefined,
  async respond() {
    const counts = await countByTier(services);
    const tiers = await allTiers(services.control);
    return { items: tiers.map((tier) => toItem(tier, counts.get(tier.name) ?? 0)) };
  },
});

const setOneTier = (services: AdminServices): Endpoint<Tier> => ({
  method: 'POST',
  path: paths.adminTiers,
  operationId: 'adminSetTier',
  summary: 'Create a tier, or replace all limits of one',
  body: SetTierRequest,
  response: json(TierItem),
  read(request) {
    const { name, qms, qmh, trs, ads, rl_qps, rl_qpm, rl_qph } = request.body as SetTierRequest;
    const rates = { rlQps: rl_qps ?? null, rlQpm: rl_qpm ?? null, rlQph: rl_qph ?? null };
    return { name, qms, qmh, trs: trs ?? DEFAULT_TRS, ads: toDatasets(ads ?? DATASETS), ...rates };
  },
  async respond(tier, { request }) {
    const { control } = services;
    const before = await tierFields(control, tier.name);
    await setTier(control, tier);
    const after = limitsJson(limitsOf(tier));
    await recordChange(control, request, { action: 'tier.set', subject: tier.name, before, after });
    return toItem(tier, (await countByTier(services)).get(tier.name) ?? 0);
  },
});

const removeOneTier = (services: AdminServices): Endpoint<string> => ({
  method: 'POST',
  path: paths.adminTierRemove,
  operationId: 'adminRemoveTier',
  summary: 'Remove a tier that no account has; the response is the tier as it was',
  parameters: [pathParameter('name', 'The name of the tier.')],
  body: Nothing,
  response: json(TierItem),
  refusals: ['not_found'],
  read: (request) => pathText(request, 'name'),
  async respond(name, { request }) {
    const { control } = services;
    const tier = await requireTier(control, name);
    await removeTier(control, name);
    const before = limitsJson(limitsOf(tier));
    await recordChange(control, request, { action: 'tier.remove', subject: name, before });
    return toItem(tier, 0);
  },
});
