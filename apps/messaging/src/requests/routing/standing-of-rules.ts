import type { Transaction } from '@customer-platform/database';
import { permissionsOfRule } from '../../vocabulary/makers/carried-permissions.js';
import type { MadeRow, MakerType } from '../../vocabulary/makers/maker.js';
import type { Carried, Standing } from '../../background/makers/maker-rights.js';
import type { RuleEntity } from './rule.entity.js';

/** A rule with how it stands; null while the registry is silent. */
export interface ShownRule {
  readonly row: RuleEntity;
  readonly standing: Standing | null;
}

/** What is sent of a template now, and by whose decision. */
export interface PublishedText extends MadeRow {
  readonly version: number | null;
}

interface TextRow {
  id: string;
  published_version: number | null;
  publisher_type: MakerType | null;
  publisher_id: string | null;
}

/** What templates say now, by id. */
export async function publishedTexts(
  tx: Transaction,
  templateIds: readonly string[],
): Promise<Map<string, PublishedText>> {
  const rows = await tx.query<TextRow>(
    `SELECT t.id, t.published_version, p.publisher_type, p.publisher_id FROM templates t
       LEFT JOIN template_publishers p ON p.organization_id = t.organization_id AND p.template_id = t.id
        AND p.version = t.published_version
      WHERE t.organization_id = $1 AND t.id = ANY($2::uuid[])`,
    [tx.organizationId, templateIds],
  );
  return new Map(
    rows.map((row) => [
      row.id,
      { version: row.published_version, makerType: row.publisher_type, makerId: row.publisher_id },
    ]),
  );
}

/** A rule as what carries data out. */
export function carriedByRule(rule: RuleEntity, text: PublishedText | undefined): Carried {
  const { organizationId, makerType, makerId, makerSince, vouchedVersion } = rule;
  const isSeen = text?.version != null && vouchedVersion !== null && text.version <= vouchedVersion;
  return {
    organizationId,
    makerType,
    makerId,
    makerSince,
    needed: permissionsOfRule(rule.eventType),
    publisher: text && !isSeen ? text : null,
  };
}
