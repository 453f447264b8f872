import { Module } from '@nestjs/common';
import { MjmlCompiler } from './rendering/mjml-compiler.js';
import { Renderer } from './rendering/renderer.js';
import { MessageRendering } from './templates/message-rendering.js';
import { TemplateExpansion } from './templates/template-expansion.js';
import { TemplateHistory } from './templates/template-history.service.js';
import { TemplateVersions } from './templates/template-versions.js';
import { TemplatesController } from './templates/templates.controller.js';
import { TemplatesService } from './templates/templates.service.js';
import { UsedTemplates } from './templates/used-templates.js';

/** Content of messages: templates with their versions, and how they are rendered. */
@Module({
  controllers: [TemplatesController],
  providers: [
    MessageRendering,
    MjmlCompiler,
    Renderer,
    TemplateExpansion,
    TemplateHistory,
    TemplatesService,
    TemplateVersions,
    UsedTemplates,
  ],
  exports: [MessageRendering, Renderer, TemplatesService, TemplateVersions],
})
export class ContentModule {}
