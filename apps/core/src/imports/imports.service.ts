import type { IncomingMessage } from 'node:http';
import { Injectable, type StreamableFile } from '@nestjs/common';
import { Audit } from '@customer-platform/audit';
import { Clock, Database, pageOf, type Transaction } from '@customer-platform/database';
import {
  Answer,
  tenantOf,
  type ListQuery,
  type Once,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { Problem } from '@customer-platform/problem-json';
import { Downloads } from '../downloads/downloads.js';
import { CSV_HEAD, csvLineOf } from './errors-as-csv.js';
import {
  toImportSummaryDto,
  type ImportDto,
  type ImportErrorDto,
  type ImportSummaryDto,
} from './import.dto.js';
import { IMPORT_COLUMNS, type ImportTableRow } from './import.row.js';
import { ImportSignal } from './running/import.signal.js';
import { ImportUpload, type Upload } from './upload/import-upload.js';
import { UploadSlots } from './upload/upload-slots.js';
import { demandRoom, roomOfImports } from './waiting-imports.js';

const INSERT = `
  INSERT INTO imports (organization_id, id, state, options, columns, file_bytes, file_rows, file_sha256, file_key, position,
                       line, actor_type, actor_id, impersonator_id, correlation_id, moved_at, created_at, updated_at,
                       tenant_id, number_forms)
  VALUES ($1, $2, 'queued', $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15, $15, $16, $17)
  RETURNING ${IMPORT_COLUMNS}`;

const IMPORTS = `SELECT ${IMPORT_COLUMNS} FROM imports WHERE organization_id = $1`;
const IMPORT = `${IMPORTS} AND id = $2`;

const ERRORS = `
  SELECT place, line, column_name AS column, code, value, detail FROM import_errors
   WHERE organization_id = $1 AND import_id = $2`;
/** Of a file of errors, in one statement. */
const ERRORS_AT_ONCE = 1_000;
const NEXT_ERRORS = `${ERRORS} AND place > $3 ORDER BY place LIMIT ${ERRORS_AT_ONCE}`;

type ErrorRow = ImportErrorDto & { place: number };

/** Imports of contacts, as their senders see them (core.md §9). */
@Injectable()
export class ImportsService {
  constructor(
    private readonly database: Database,
    private readonly upload: ImportUpload,
    private readonly slots: UploadSlots,
    private readonly audit: Audit,
    private readonly signal: ImportSignal,
    private readonly downloads: Downloads,
    private readonly clock: Clock,
  ) {}

  /**
   * Takes a file, and leaves it to be imported. `once` tells two requests of one key apart by the options and the content.
   * What can be refused by what waits already is refused before the file comes.
   * @throws Problem `malformed_request`, `unsupported_media_type`, `body_too_large`, `invalid_mapping`,
   * `permission_denied`, `limit_reached`, `rate_limited`, `request_timeout`, `dependency_unavailable`
   */
  open(context: RequestContext, request: IncomingMessage, once: Once): Promise<unknown> {
    return this.slots.hold(context, request, (gaveWay) => this.take(context, request, once, gaveWay));
  }

  private async take(
    context: RequestContext,
    request: IncomingMessage,
    once: Once,
    gaveWay: AbortSignal,
  ): Promise<unknown> {
    const room = await roomOfImports(this.database, context);
    const upload = await this.upload.receive(context, request, room, gaveWay);
    let isKept = false;
    const open = async (): Promise<Answer<ImportDto>> => {
      const opened = await this.keep(context, upload);
      isKept = true;
      const errors = { data: [], page: { limit: 50, next_cursor: null } };
      return new Answer({ ...opened, errors }, { Location: `/v1/core/imports/${upload.id}` }, 202);
    };
    try {
      return await once({ options: upload.options, sha256: upload.file.sha256 }, open);
    } finally {
      if (!isKept) await this.upload.discard(upload);
    }
  }

  async list(context: RequestContext, query: ListQuery): Promise<Page<ImportSummaryDto>> {
    const { organizationId } = context;
    return this.database.inOrganization(context, (tx) =>
      pageOf<ImportTableRow, ImportSummaryDto>(tx, IMPORTS, query, {
        parameters: [organizationId],
        map: toImportSummaryDto,
        // Their mappings may be long.
        largeRows: true,
      }),
    );
  }

  /** An import, with a page of its errors. @throws Problem `not_found` */
  async get(context: RequestContext, id: string, query: ListQuery): Promise<ImportDto> {
    return this.database.inOrganization(context, async (tx) => {
      const row = await find(tx, id);
      const errors = await pageOf<ErrorRow, ImportErrorDto>(tx, ERRORS, query, {
        parameters: [tx.organizationId, id],
        map: ({ line, column, code, value, detail }) => ({ line, column, code, value, detail }),
      });
      return { ...toImportSummaryDto(row), errors };
    });
  }

  /** All of its errors as a file, piece by piece, for as long as the caller may read them. @throws Problem `not_found`, before any of it is read */
  async errorsAsCsv(context: RequestContext, id: string): Promise<StreamableFile> {
    await this.database.inOrganization(context, (tx) => find(tx, id));
    return this.downloads.file(context, {
      needed: ['core.imports.read'],
      pieces: this.csv(context, id),
      options: {
        type: 'text/csv; charset=utf-8',
        disposition: `attachment; filename="import-${id}-errors.csv"`,
      },
    });
  }

  private async *csv(context: RequestContext, id: string): AsyncGenerator<string> {
    yield CSV_HEAD;
    let place = 0;
    let read: number;
    do {
      const rows = await this.database.inOrganization(context, (tx) =>
        tx.query<ErrorRow>(NEXT_ERRORS, [tx.organizationId, id, place]),
      );
      if (rows.length > 0) yield rows.map(csvLineOf).join('');
      place = rows.at(-1)?.place ?? place;
      read = rows.length;
    } while (read === ERRORS_AT_ONCE);
  }

  private async keep(context: RequestContext, { id, options, file, key }: Upload): Promise<ImportSummaryDto> {
    const { actor, correlationId, organizationId } = context;
    return this.database.inOrganization(context, async (tx) => {
      await demandRoom(tx, file.bytes);
      const [row] = await tx.query<ImportTableRow>(INSERT, [
        organizationId,
        id,
        JSON.stringify(options),
        JSON.stringify(file.columns),
        file.bytes,
        file.rows,
        file.sha256,
        key,
        file.start.at,
        file.start.line,
        actor.type,
        actor.id,
        actor.impersonatorId ?? null,
        correlationId,
        this.clock.now(),
        tenantOf(context),
        file.numberForms && JSON.stringify(file.numberForms),
      ]);
      if (!row) throw new Error('An import was inserted and not answered');
      await this.audit.record(tx, context, {
        action: 'core.imports.create',
        resource: { type: 'imports', id },
        changedFields: ['options', 'file'],
      });
      tx.afterCommit(() => this.signal.raise());
      return toImportSummaryDto(row);
    });
  }
}

async function find(tx: Transaction, id: string): Promise<ImportTableRow> {
  const [row] = await tx.query<ImportTableRow>(IMPORT, [tx.organizationId, id]);
  if (!row) throw new Problem('not_found');
  return row;
}
