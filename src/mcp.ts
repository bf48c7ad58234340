/** onrecord/mcp: tools of tool servers that speak the Model Context Protocol. Needs @modelcontextprotocol/sdk. */
export { openToolServer, type ToolServer } from './tool/mcp/tools.ts';
export type { HttpServer, ServerToolSettings, StdioServer, ToolServerOptions } from './tool/mcp/server.ts';
