import { Injectable } from '@nestjs/common';
import {
  Clock,
  Database,
  type Patch,
  type ResourceChange,
  type ResourceStore,
  ResourceStores,
  mergePatch,
  Whole,
  sameJson,
} from '@customer-platform/database';
import { storedTimeZone, type ListQuery, type Page, type RequestContext } from '@customer-platform/http';
import { readRuleParts } from './check-rule.js';
import type { CreateRuleDto, UpdateRuleDto } from './rule.dto.js';
import { Rule } from './rule.entity.js';
import { keepVersion, readVersion } from './rule-versions.js';

const MOST_RULES = 200;

/** Earning rules (loyalty.md §1): everything beyond the name makes a new, immutable version. */
@Injectable()
export class RulesService {
  private readonly rules: ResourceStore<Rule>;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    stores: ResourceStores,
  ) {
    this.rules = stores.of<Rule>({
      entity: Rule,
      module: 'loyalty',
      resource: 'rules',
      limit: MOST_RULES,
      constraints: {
        unique: { rules_name: { field: 'name', pointer: '/name', value: 'lower(name)' } },
        references: { transactions_rule: { module: 'loyalty', resource: 'transactions' } },
      },
      event: ruleEvent,
      afterChange: (tx, _context, change) => keepVersion(tx, change),
      referencedBy: [{ table: 'transactions', column: 'rule_id', resource: 'transactions' }],
    });
  }

  list(context: RequestContext, query: ListQuery): Promise<Page<Rule>> {
    return this.rules.page(context, query);
  }

  /** @throws Problem `validation_failed`, `duplicate_value`, `limit_reached` */
  create(context: RequestContext, body: CreateRuleDto): Promise<Rule> {
    const now = this.clock.now();
    const validFrom = body.valid_from === undefined ? now : new Date(body.valid_from);
    const validTo = toDate(body.valid_to) ?? null;
    const parts = readRuleParts(
      {
        conditions: body.conditions ?? [],
        formula: body.formula,
        maxPerContact: body.max_per_contact ?? null,
        validFrom,
        validTo,
      },
      timezoneOf(context),
    );
    return this.rules.create(context, {
      name: body.name,
      event: body.event,
      ...parts,
      maxPerEvent: body.max_per_event ?? null,
      validFrom,
      validTo,
      expiresAfterDays: body.expires_after_days ?? null,
      enabled: body.enabled ?? true,
      version: 1,
    });
  }

  /** The rule as it is, or as `version` said. */
  get(context: RequestContext, id: string, version?: number): Promise<Rule> {
    return this.database.inOrganization(context, async (tx) => {
      const rule = await this.rules.get(context, id, 'any', tx);
      return version === undefined ? rule : readVersion(tx, rule, version);
    });
  }

  update(context: RequestContext, id: string, body: UpdateRuleDto): Promise<Rule> {
    return this.rules.update(context, id, (rule) => patchOf(rule, body, timezoneOf(context)));
  }

  softDelete(context: RequestContext, id: string): Promise<void> {
    return this.rules.softDelete(context, id);
  }

  restore(context: RequestContext, id: string): Promise<Rule> {
    return this.rules.restore(context, id);
  }

  purge(context: RequestContext, id: string): Promise<void> {
    return this.rules.purge(context, id);
  }
}

/** The checked merge of a stored rule with what a PATCH gives; a new version where more than the name changes. */
function patchOf(rule: Rule, body: UpdateRuleDto, timezone: string): Patch<Rule> {
  const validFrom = toDate(body.valid_from) ?? rule.validFrom;
  const validTo = toDate(body.valid_to, rule.validTo);
  const cap = rule.maxPerContact && {
    ...rule.maxPerContact,
    timezone: storedTimeZone(rule.maxPerContact.timezone),
  };
  const parts = readRuleParts(
    {
      conditions: body.conditions ?? rule.conditions,
      formula: mergedFormula(rule, body.formula),
      maxPerContact: body.max_per_contact === undefined ? cap : mergePatch(cap, body.max_per_contact),
      validFrom,
      validTo,
    },
    timezone,
  );
  const content = {
    event: body.event ?? rule.event,
    ...parts,
    maxPerEvent: body.max_per_event === undefined ? rule.maxPerEvent : body.max_per_event,
    validFrom,
    validTo,
    expiresAfterDays: body.expires_after_days === undefined ? rule.expiresAfterDays : body.expires_after_days,
    enabled: body.enabled ?? rule.enabled,
  };
  const changed = Object.entries(content).some(([name, value]) => !sameJson(value, rule[name as keyof Rule]));
  if (!changed) return { name: body.name ?? rule.name };
  return {
    name: body.name ?? rule.name,
    ...content,
    // Merged above; merged once more they would keep members that the merge removed.
    formula: new Whole(content.formula),
    maxPerContact: new Whole(content.maxPerContact),
    version: rule.version + 1,
  };
}

/** A formula of another type replaces the stored one: its members would have no meaning in the merge. */
function mergedFormula(rule: Rule, given: object | undefined): unknown {
  if (given === undefined) return rule.formula;
  const type = (given as { type?: unknown }).type;
  return type !== undefined && type !== rule.formula.type ? given : mergePatch(rule.formula, given);
}

function toDate(text: string | null | undefined): Date | undefined;
function toDate(text: string | null | undefined, otherwise: Date | null): Date | null;
function toDate(text: string | null | undefined, otherwise?: Date | null): Date | null | undefined {
  if (text === undefined) return otherwise;
  return text === null ? (otherwise === undefined ? undefined : null) : new Date(text);
}

function timezoneOf({ organization }: RequestContext): string {
  return organization.settings.timezone ?? 'UTC';
}

function ruleEvent({ verb, row, changed }: ResourceChange<Rule>) {
  return {
    type: `loyalty.rule.${verb}.v1`,
    key: row.id,
    subject: `rules/${row.id}`,
    data: { id: row.id, version: row.version, changed: changed.map(snakeCase) },
  };
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
