import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { RELEASE } from '@customer-platform/config';
import type { INestApplication, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { DocumentBuilder, SwaggerModule, type OpenAPIObject } from '@nestjs/swagger';
import { FastExpressAdapter } from '../boot/fast-express.adapter.js';
import { routesOf, type ModuleName } from '../boot/route-table.js';
import { describeDtos } from './describe-dtos.js';
import { toOpenApi31 } from './open-api-31.js';

/** What a description is made of. */
interface OpenApiOptions {
  readonly module: ModuleName;
  readonly root: Type;
}

/**
 * The OpenAPI 3.1 description of an app, without a database, a broker or an environment: Nest previews the modules, no
 * provider is made. Routes between modules are left out.
 */
export async function openApiDocument({ module, root }: OpenApiOptions): Promise<object> {
  describeDtos();
  const app: INestApplication = await NestFactory.create(root, new FastExpressAdapter(), {
    preview: true,
    abortOnError: false,
    logger: false,
    bodyParser: false,
  });
  const publicPaths = new Set(
    routesOf(app, module)
      .filter(({ authorization }) => authorization !== 'service')
      .map(({ fullPath }) => fullPath.replace(/:([^/]+)/g, '{$1}')),
  );
  const document = SwaggerModule.createDocument(app, settings(module), {
    operationIdFactory: (controller, method) => `${controller.replace(/Controller$/, '')}.${method}`,
  });
  await app.close();
  return toOpenApi31(document, (path) => publicPaths.has(path));
}

/** Writes the description to `apps/<module>/openapi.json`, beside the folder of the running script, if not said. */
export async function writeOpenApi(
  options: OpenApiOptions & { readonly file?: URL | string },
): Promise<void> {
  const file = options.file ?? join(dirname(process.argv[1] ?? ''), '..', 'openapi.json');
  await writeFile(file, `${JSON.stringify(await openApiDocument(options), null, 2)}\n`);
}

const MODULE_DESCRIPTIONS: Readonly<Record<ModuleName, string>> = {
  core: 'Contacts, their identities, consents and events; segments; usage; the audit log; members.',
  crm: 'Notes and activities on contacts, lists, custom objects, and the timeline of a contact.',
  identity: 'Organizations, users, roles, API keys, sessions; OAuth2 and OpenID Connect.',
  messaging: 'Channels, routing of events, templates, sends, suppressions, campaigns, preferences.',
  loyalty: 'Rules that award points, and the ledger of them.',
};

function settings(module: ModuleName): Omit<OpenAPIObject, 'paths'> {
  return new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle(`Customer Platform: ${module}`)
    .setVersion(RELEASE)
    .addTag(module, MODULE_DESCRIPTIONS[module])
    .addSecurity('api_key', { type: 'http', scheme: 'bearer', description: 'An API key, `cpk_live_…`' })
    .addSecurity('user_token', {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'at+jwt',
      description: 'A user’s access token',
    })
    .addSecurity('member_token', {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'JWT',
      description: 'A member token',
    })
    .build();
}
