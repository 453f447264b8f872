import { PROBLEMS, problemIndexPage, problemPage } from '@customer-platform/problem-json';
import { landingPage } from './pages.js';
import type { OpenApiDocument } from './openapi-merge.js';
import { MODULES, type ModuleName } from './routes.js';
import { describeWhole } from './own-openapi.js';
import type { Upstream } from './upstream.js';

interface Document {
  contentType: string;
  /** The same bytes for all readers: who reads slowly holds nothing of its own. */
  body: Buffer;
}

const JSON_TYPE = 'application/json; charset=utf-8';
const HTML_TYPE = 'text/html; charset=utf-8';
/** A module deployed anew shows its new routes after this long at the latest. */
const FRESH_FOR_MS = 15_000;
/** One that has never been seen is asked for again this soon, however many ask: to merge takes time of everybody's. */
const MISSING_FOR_MS = 2_000;
const MODULE_TIMEOUT_MS = 2_000;

/** The pages and documents that the gateway answers itself (docs/spec/endpoints.csv, module `gateway`). */
export class Documents {
  private merged: { body: Buffer; until: number } | undefined;
  private merging: Promise<Buffer> | undefined;
  private readonly asyncApi: Buffer;
  private readonly landing: Buffer;
  private readonly problems: Buffer;
  private readonly lastSeen = new Map<ModuleName, OpenApiDocument>();

  constructor(
    private readonly upstreams: Record<ModuleName, Upstream>,
    private readonly version: string,
    asyncApi: object,
    hasConsole: boolean,
    private readonly now: () => number = Date.now,
  ) {
    this.asyncApi = Buffer.from(JSON.stringify(asyncApi));
    this.landing = Buffer.from(landingPage(version, hasConsole));
    this.problems = Buffer.from(problemIndexPage());
  }

  /** The document at `path`, or undefined where the gateway has none. */
  async at(path: string): Promise<Document | undefined> {
    if (path === '/') return { contentType: HTML_TYPE, body: this.landing };
    if (path === '/v1/openapi.json') return { contentType: JSON_TYPE, body: await this.openApi() };
    if (path === '/v1/asyncapi.json') return { contentType: JSON_TYPE, body: this.asyncApi };
    if (path === '/problems') return { contentType: HTML_TYPE, body: this.problems };
    if (path.startsWith('/problems/')) {
      const code = path.slice('/problems/'.length);
      if (Object.hasOwn(PROBLEMS, code))
        return { contentType: HTML_TYPE, body: Buffer.from(problemPage(code)) };
    }
    return undefined;
  }

  private async openApi(): Promise<Buffer> {
    if (this.merged !== undefined && this.now() < this.merged.until) return this.merged.body;
    this.merging ??= this.merge().finally(() => (this.merging = undefined));
    return this.merging;
  }

  /** A module that does not answer keeps the description it last gave; one never seen is named as missing. */
  private async merge(): Promise<Buffer> {
    const answers = await Promise.allSettled(
      MODULES.map((name) => this.upstreams[name].json('/openapi.json', MODULE_TIMEOUT_MS)),
    );
    const missing: string[] = [];
    MODULES.forEach((name, index) => {
      const answer = answers[index];
      if (answer?.status === 'fulfilled') this.lastSeen.set(name, answer.value as OpenApiDocument);
      else if (!this.lastSeen.has(name)) missing.push(name);
    });
    const document = describeWhole(this.version, this.lastSeen);
    if (missing.length > 0) document['x-missing-modules'] = missing;
    const body = Buffer.from(JSON.stringify(document));
    this.merged = { body, until: this.now() + (missing.length === 0 ? FRESH_FOR_MS : MISSING_FOR_MS) };
    return body;
  }
}
