import type { IncomingMessage } from 'node:http';
import { Controller, Req, type StreamableFile } from '@nestjs/common';
import { ApiBody, ApiConsumes, ApiExtraModels, ApiHeader, getSchemaPath } from '@nestjs/swagger';
import {
  Context,
  Endpoint,
  GetEndpoint,
  Id,
  ListEndpoint,
  ListRequest,
  OncePerKey,
  type ListQuery,
  type Once,
  type Page,
  type RequestContext,
} from '@customer-platform/http';
import { ImportDto, ImportSummaryDto, IMPORT_ERROR_LIST, IMPORT_LIST } from './import.dto.js';
import { ImportOptionsDto } from './import-options.dto.js';
import { ImportsService } from './imports.service.js';
import { MOST_FILE_BYTES } from './upload/file-intake.js';

/** What multipart adds to the file: the options, and the lines between. */
const AROUND_THE_FILE = 1024 * 1024;

@Controller('v1/core/imports')
export class ImportsController {
  constructor(private readonly imports: ImportsService) {}

  @ApiConsumes('multipart/form-data')
  @ApiExtraModels(ImportOptionsDto)
  @ApiBody({
    required: true,
    schema: {
      type: 'object',
      required: ['options', 'file'],
      properties: {
        options: { $ref: getSchemaPath(ImportOptionsDto) },
        file: { type: 'string', format: 'binary', description: 'CSV or JSON lines, gzip or not.' },
      },
    },
  })
  @Endpoint({
    method: 'POST',
    path: '',
    permission: 'core.imports.create',
    summary: 'Import contacts from a file',
    description:
      'Multipart: `options` as JSON first, then `file`, at most 512 MiB and 1,000,000 rows after inflating; of CSV line 1 names ' +
      'the columns. Every column is mapped, to a field or to null; consents need `core.consents.write`. Rows are done one ' +
      'after another, each whole or not at all; none of it triggers a message.',
    success: 202,
    body: 'stream',
    bodyLimit: MOST_FILE_BYTES + AROUND_THE_FILE,
    response: ImportDto,
    problems: ['invalid_mapping', 'limit_reached'],
  })
  create(
    @Context() context: RequestContext,
    @Req() request: IncomingMessage,
    @OncePerKey() once: Once,
  ): Promise<unknown> {
    return this.imports.open(context, request, once);
  }

  @ListEndpoint({
    permission: 'core.imports.read',
    summary: 'List the imports of contacts',
    response: ImportSummaryDto,
  })
  list(
    @Context() context: RequestContext,
    @ListRequest(IMPORT_LIST) query: ListQuery,
  ): Promise<Page<ImportSummaryDto>> {
    return this.imports.list(context, query);
  }

  @ApiHeader({
    name: 'Accept',
    required: false,
    description: '`text/csv`: all errors as a file, in place of the import.',
    schema: { type: 'string' },
  })
  @GetEndpoint({
    permission: 'core.imports.read',
    summary: 'Read an import of contacts',
    description: '`limit` and `cursor` page its errors, in the order of the file.',
    response: ImportDto,
  })
  async get(
    @Context() context: RequestContext,
    @Id() id: string,
    @ListRequest(IMPORT_ERROR_LIST) query: ListQuery,
    @Req() request: IncomingMessage,
  ): Promise<ImportDto | StreamableFile> {
    if (!/\btext\/csv\b/i.test(request.headers.accept ?? '')) return this.imports.get(context, id, query);
    return this.imports.errorsAsCsv(context, id);
  }
}
