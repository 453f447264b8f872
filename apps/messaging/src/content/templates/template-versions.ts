import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Problem } from '@customer-platform/problem-json';
import type { Transaction } from '@customer-platform/database';
import type { RequestContext } from '@customer-platform/http';
import type { Channel } from '../../vocabulary/addresses/channel.js';
import { makerOf } from '../../vocabulary/makers/maker.js';
import { MjmlCompiler } from '../rendering/mjml-compiler.js';
import type { PartSource } from '../../vocabulary/rendering/render-job.js';
import { RenderFailure } from '../../vocabulary/rendering/render-failure.js';
import { Renderer, type RenderPurpose } from '../rendering/renderer.js';
import {
  sourcesOf,
  waysOf,
  type LocaleParts,
  type TemplateContent,
  type TemplateKind,
  type TemplateVariable,
} from '../../vocabulary/templates/template-content.js';

/** The sources of every locale, derived ones included: what is rendered. */
export type CompiledLocales = Readonly<Record<string, readonly PartSource[]>>;

/** One immutable version, without what it says. */
export interface TemplateHead {
  readonly templateId: string;
  readonly version: number;
  readonly channel: Channel;
  readonly defaultLocale: string;
  readonly variables: Readonly<Record<string, TemplateVariable>>;
  readonly strict: boolean;
}

/** One immutable version that may be sent. */
export interface PublishedHead extends TemplateHead {
  /** True if somebody published it who could read contacts, or nobody noted who did. */
  readonly byReader: boolean;
}

/** One immutable version, ready to be rendered: in all its languages, or in those that were asked for. */
export interface TemplateVersion extends TemplateHead {
  readonly parts: CompiledLocales;
}

/** Which version. */
export interface VersionId {
  readonly organizationId: string;
  readonly templateId: string;
  readonly version: number;
}

interface Row {
  organization_id: string;
  template_id: string;
  version: number;
  channel: Channel;
  default_locale: string;
  variables: Record<string, TemplateVariable>;
  strict: boolean;
  parts: CompiledLocales;
}

/** Contents that a stream of sends brings along are compiled once; so many are remembered, none larger than this. */
const REMEMBERED = 200;
const LARGEST_REMEMBERED = 64 * 1024;

const HEAD = 'organization_id, template_id, version, channel, default_locale, variables, strict';
const COLUMNS = `${HEAD}, parts`;

const FIND = `
  SELECT ${COLUMNS} FROM template_versions WHERE organization_id = $1 AND template_id = $2 AND version = $3`;

const HEADS = `
  SELECT ${HEAD}, (SELECT p.reads_contacts FROM template_publishers p
                    WHERE p.organization_id = v.organization_id AND p.template_id = v.template_id
                      AND p.version = v.version) IS NOT FALSE AS by_reader
    FROM template_versions v
   WHERE (organization_id, template_id, version) IN (SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::int[]))`;

/** A version of many languages is megabytes, of which a message needs one. */
const IN_LOCALES = `
  SELECT ${HEAD.replaceAll(/\w+/g, 'v.$&')}, coalesce((
           SELECT jsonb_object_agg(part.key, part.value) FROM jsonb_each(v.parts) AS part
            WHERE part.key = v.default_locale
               OR lower(part.key) IN (SELECT jsonb_array_elements_text(asked.locales))), '{}') AS parts
    FROM jsonb_to_recordset($1::jsonb) AS asked (organization_id uuid, template_id uuid, version int, locales jsonb)
   CROSS JOIN LATERAL (
     SELECT ${COLUMNS} FROM template_versions AS stored
      WHERE stored.organization_id = asked.organization_id AND stored.template_id = asked.template_id
        AND stored.version = asked.version OFFSET 0) AS v`;

/** Key of a version across organizations. */
export function versionKey(organizationId: string, templateId: string, version: number): string {
  return `${organizationId}/${templateId}/${version}`;
}

/** Compiles contents and keeps them, each once and for ever. */
@Injectable()
export class TemplateVersions {
  /** By the digest of what was given, oldest first. */
  private readonly compiled = new Map<string, readonly PartSource[]>();

  constructor(
    private readonly renderer: Renderer,
    private readonly mjml: MjmlCompiler,
  ) {}

  /**
   * The sources of a content, with a text part derived for mail that has none. Call it outside of a transaction.
   * @throws Problem `template_invalid` with the pointer of the part at fault
   */
  async compile(
    organizationId: string,
    locales: Readonly<Record<string, LocaleParts>>,
    kind: TemplateKind = 'message',
  ): Promise<CompiledLocales> {
    const compiled: Record<string, readonly PartSource[]> = {};
    for (const [locale, parts] of Object.entries(locales)) {
      const pointer = `/locales/${locale}`;
      compiled[locale] =
        kind === 'message'
          ? await this.compileLocale(organizationId, parts, pointer, 'save')
          : await this.compileParts(organizationId, parts, pointer, 'save', true);
    }
    return compiled;
  }

  /** The sources of one locale, or of a send's inline content. @throws Problem `template_invalid` */
  async compileLocale(
    organizationId: string,
    parts: LocaleParts,
    pointer: string,
    purpose: RenderPurpose = 'send',
  ): Promise<readonly PartSource[]> {
    const text = JSON.stringify(sourcesOf(parts));
    if (text.length > LARGEST_REMEMBERED) return this.compileParts(organizationId, parts, pointer, purpose);
    const digest = createHash('sha256').update(text).digest('base64');
    const compiled =
      this.compiled.get(digest) ?? (await this.compileParts(organizationId, parts, pointer, purpose));
    this.compiled.delete(digest);
    this.compiled.set(digest, compiled);
    const [oldest] = this.compiled.keys();
    if (this.compiled.size > REMEMBERED && oldest !== undefined) this.compiled.delete(oldest);
    return compiled;
  }

  /** Tells whether a send's own words name its contact. */
  readsContact(organizationId: string, parts: readonly PartSource[]): Promise<boolean> {
    return this.renderer.readsContact(organizationId, parts);
  }

  private async compileParts(
    organizationId: string,
    parts: LocaleParts,
    pointer: string,
    purpose: RenderPurpose,
    isFragment = false,
  ): Promise<readonly PartSource[]> {
    try {
      await this.renderer.check(organizationId, sourcesOf(parts), purpose);
      // A piece of MJML is no document: it is compiled with the message that it stands in.
      const given = isFragment
        ? sourcesOf(parts)
        : await this.withHtml(organizationId, sourcesOf(parts), purpose);
      const html = given.find(({ name }) => name === 'html');
      if (html === undefined || given.some(({ name }) => name === 'text')) return given;
      const source = await this.renderer.deriveText(organizationId, html.source, purpose);
      const text: PartSource = { name: 'text', mode: 'text', source };
      // Derived from a tag that stood half outside of it: the author has to say the text.
      await this.renderer.check(organizationId, [text], purpose);
      return [...given, text];
    } catch (error) {
      if (!(error instanceof RenderFailure)) throw error;
      const { part, detail } = error.reason;
      throw Problem.validation([
        { pointer: part ? `${pointer}/${part}` : pointer, code: 'template_invalid', detail },
      ]);
    }
  }

  /** What was written as MJML is rendered as the HTML that it compiles to. */
  private async withHtml(
    organizationId: string,
    given: readonly PartSource[],
    purpose: RenderPurpose,
  ): Promise<readonly PartSource[]> {
    const compiled = given.map(async (part): Promise<PartSource> => {
      if (part.name !== 'mjml') return part;
      const html: PartSource = {
        name: 'html',
        mode: 'html',
        source: await this.mjml.compile(organizationId, part.source),
      };
      try {
        await this.renderer.check(organizationId, [html], purpose);
      } catch (error) {
        if (!(error instanceof RenderFailure)) throw error;
        throw new RenderFailure({ ...error.reason, part: 'mjml' });
      }
      return html;
    });
    return Promise.all(compiled);
  }

  /** Stores a version within the transaction of the change that made it. */
  async add(
    tx: Transaction,
    template: { id: string; version: number; channel: Channel },
    content: TemplateContent,
    parts: CompiledLocales,
    now: Date,
  ): Promise<void> {
    await tx.query(
      `INSERT INTO template_versions (${COLUMNS}, locales, created_at, layout)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        tx.organizationId,
        template.id,
        template.version,
        template.channel,
        content.default_locale,
        JSON.stringify(content.variables),
        content.strict,
        JSON.stringify(parts),
        JSON.stringify(content.locales),
        now,
        content.layout,
      ],
    );
  }

  /** The version is sent from now on, where rules' makers have not seen it by the rights of who says so. */
  async publish(
    tx: Transaction,
    context: RequestContext,
    templateId: string,
    version: number,
  ): Promise<void> {
    const { makerType, makerId } = makerOf(context);
    // A version never changes: what a reader of contacts has published once they have published for good.
    await tx.query(
      `INSERT INTO template_publishers AS known
         (organization_id, template_id, version, publisher_type, publisher_id, reads_contacts)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (organization_id, template_id, version)
         DO UPDATE SET publisher_type = excluded.publisher_type, publisher_id = excluded.publisher_id,
           reads_contacts = known.reads_contacts OR excluded.reads_contacts`,
      [tx.organizationId, templateId, version, makerType, makerId, context.can('core.contacts.read')],
    );
  }

  /** What an author wrote; undefined when there is no such version. */
  async content(tx: Transaction, templateId: string, version: number): Promise<TemplateContent | undefined> {
    const rows = await tx.query<TemplateContent>(
      `SELECT default_locale, locales, variables, strict, layout FROM template_versions
        WHERE organization_id = $1 AND template_id = $2 AND version = $3`,
      [tx.organizationId, templateId, version],
    );
    return rows[0];
  }

  /** One version of the transaction's organization; undefined when there is none. */
  async find(tx: Transaction, templateId: string, version: number): Promise<TemplateVersion | undefined> {
    const [row] = await tx.prepared<Row>(FIND, [tx.organizationId, templateId, version]);
    return row && toVersion(row);
  }

  /** Several versions without what they say, by {@link versionKey}. */
  async heads(tx: Transaction, wanted: readonly VersionId[]): Promise<Map<string, PublishedHead>> {
    if (wanted.length === 0) return new Map();
    const rows = await tx.prepared<Omit<Row, 'parts'> & { by_reader: boolean }>(HEADS, [
      wanted.map(({ organizationId }) => organizationId),
      wanted.map(({ templateId }) => templateId),
      wanted.map(({ version }) => version),
    ]);
    return new Map(rows.map((row) => [keyOfRow(row), { ...toHead(row), byReader: row.by_reader }]));
  }

  /**
   * Several versions, of several organizations in a worker's transaction, by {@link versionKey}: in the languages that
   * `chooseLocale` can come to for these wishes, and no other.
   */
  async inLocales(
    tx: Transaction,
    wanted: readonly (VersionId & { readonly wishes: Iterable<string | null | undefined> })[],
  ): Promise<Map<string, TemplateVersion>> {
    if (wanted.length === 0) return new Map();
    const asked = wanted.map(({ organizationId, templateId, version, wishes }) => ({
      organization_id: organizationId,
      template_id: templateId,
      version,
      locales: [...new Set([...wishes].flatMap(waysOf))].map((locale) => locale.toLowerCase()),
    }));
    const rows = await tx.prepared<Row>(IN_LOCALES, [JSON.stringify(asked)]);
    return new Map(rows.map((row) => [keyOfRow(row), toVersion(row)]));
  }
}

function keyOfRow(row: Omit<Row, 'parts'>): string {
  return versionKey(row.organization_id, row.template_id, row.version);
}

function toHead(row: Omit<Row, 'parts'>): TemplateHead {
  return {
    templateId: row.template_id,
    version: row.version,
    channel: row.channel,
    defaultLocale: row.default_locale,
    variables: row.variables,
    strict: row.strict,
  };
}

function toVersion(row: Row): TemplateVersion {
  return { ...toHead(row), parts: row.parts };
}
