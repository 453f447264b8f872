import 'reflect-metadata';
import { writeOpenApi } from '@customer-platform/http';
import { CoreModule } from './core.module.js';

await writeOpenApi({ module: 'core', root: CoreModule });
